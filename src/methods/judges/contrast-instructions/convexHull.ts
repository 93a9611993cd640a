/** Synonyms at the extremes of their convex hull, and their choice against a reward model (ConvexDA). */
import type { Random } from "../../../core/random.ts";

/** An embedding in two dimensions. */
export type Point = readonly [x: number, y: number];

/**
 * Indices of the vertices of the convex hull, counter-clockwise from the leftmost point (the lower one of equals). Points inside the hull
 * or on its edges are left out, and so are repetitions. One point, or two, are their own hull.
 */
export function hullVertices(points: readonly Point[]): number[] {
  const order = points
    .map((_, i) => i)
    .sort((a, b) => points[a]![0] - points[b]![0] || points[a]![1] - points[b]![1] || a - b)
    .filter((i, k, all) => k === 0 || points[i]!.some((x, d) => x !== points[all[k - 1]!]![d]));
  if (order.length < 3) return order;
  const half = (indices: readonly number[]): number[] => {
    const out: number[] = [];
    for (const i of indices) {
      while (out.length >= 2 && turn(points[out.at(-2)!]!, points[out.at(-1)!]!, points[i]!) <= 0) out.pop();
      out.push(i);
    }
    return out.slice(0, -1);
  };
  return [...half(order), ...half(order.toReversed())];
}

/** Above 0 where a → b → c turns left. */
const turn = (a: Point, b: Point, c: Point): number =>
  (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

/**
 * Replaces words of a reply by the synonym that makes the model's loss largest: the lowest reward for a preferred reply, the highest for
 * the other. Each place is chosen with probability ½; the chosen ones are replaced one after the other, in order.
 * @param synonymsOf candidates at a place, as synonyms that may replace the word: hull vertices.
 * @param rewardOf the current model's reward of the reply with these synonyms.
 */
export function adversarialSynonyms(
  synonyms: readonly number[],
  preferred: boolean,
  synonymsOf: (place: number) => readonly number[],
  rewardOf: (synonyms: readonly number[]) => number,
  random: Random,
): number[] {
  let now = [...synonyms];
  for (let place = 0; place < synonyms.length; place++) {
    if (random.below(2) === 0) continue;
    let best: { readonly reward: number; readonly synonyms: number[] } | undefined;
    for (const candidate of synonymsOf(place)) {
      const changed = now.with(place, candidate);
      const reward = rewardOf(changed);
      if (!best || (preferred ? reward < best.reward : reward > best.reward))
        best = { reward, synonyms: changed };
    }
    now = best?.synonyms ?? now;
  }
  return now;
}

/** The same without a model: each place is chosen with probability ½ and gets a random candidate. */
export const randomSynonyms = (
  synonyms: readonly number[],
  synonymsOf: (place: number) => readonly number[],
  random: Random,
): number[] =>
  synonyms.map((synonym, place) => {
    if (random.below(2) === 0) return synonym;
    const candidates = synonymsOf(place);
    return candidates[random.below(candidates.length)] ?? synonym;
  });
