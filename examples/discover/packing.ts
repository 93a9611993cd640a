/**
 * Bin packing whose optimum is known: 60 items that were cut from 20 full bins, three from each, so that 20 bins are the fewest.
 * A candidate is an order of the items; each goes into the first bin that has room.
 *
 *     npx whetstone discover packing.ts
 */
import { defineProblem } from "../../src/discover/index.ts";

const [bins, capacity] = [20, 1000];

/** Numbers from 0 to 1, the same at every start. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Each bin is cut into a large piece and two that are left of it. */
export const items: readonly number[] = (() => {
  const next = numbers(7);
  const cut = Array.from({ length: bins }, () => {
    const large = 380 + Math.floor(111 * next());
    const middle = 250 + Math.floor((capacity - large - 500) * next());
    return [large, middle, capacity - large - middle];
  }).flat();
  // in no order that gives the bins away
  return cut
    .map((size) => ({ size, place: next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ size }) => size);
})();

/** How full each bin becomes, from 0 to 1. */
export function packed(order: readonly number[]): number[] {
  const left: number[] = [];
  for (const item of order) {
    const size = items[item]!;
    const at = left.findIndex((room) => room >= size);
    if (at < 0) left.push(capacity - size);
    else left[at]! -= size;
  }
  return left.map((room) => (capacity - room) / capacity);
}

const orderOf = (candidate: string): number[] => candidate.trim().split(/\s+/).map(Number);

const isOrder = (order: readonly number[]): boolean =>
  order.length === items.length && order.every((_, i) => order.includes(i));

export default defineProblem({
  name: "packing",
  summary: `An order of the ${items.length} items 0 to ${items.length - 1}, separated by spaces. In this order each item goes into the first bin of size ${capacity} that has room. The score is the mean of the squared fill of the bins. Sizes of the items: ${items.join(" ")}.`,
  starts: [items.map((_, i) => i).join(" ")],
  optimum: 1, // every bin full
  score(candidate) {
    const order = orderOf(candidate);
    if (!isOrder(order)) return undefined;
    const fills = packed(order);
    return fills.reduce((sum, fill) => sum + fill * fill, 0) / fills.length;
  },
  moves: {
    // two places change their items
    of: () => items.flatMap((_, i) => items.slice(i + 1).map((_, k) => `${i} ${i + 1 + k}`)),
    apply(candidate, move) {
      const order = orderOf(candidate);
      const [i, j] = orderOf(move);
      [order[i!], order[j!]] = [order[j!]!, order[i!]!];
      return order.join(" ");
    },
  },
});
