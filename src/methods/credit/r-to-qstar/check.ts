import { adamwDefaults, adamwStep } from "../../../common/statistics/adamw.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import {
  beamSearch,
  correlation,
  impliedCredits,
  innerNodes,
  shapedRewards,
  softOptimal,
  sumAlong,
  type TokenTree,
  visits,
} from "./tokenRewards.ts";

/** Answers of 5 tokens out of 4; a token's reward depends on its position and on the previous token. */
const [width, depth, beta, steps] = [4, 5, 0.5, 300];

function makeTree(random: Random): TokenTree {
  const size = innerNodes({ width, depth }) * width;
  const reward_NW = new Float64Array(size);
  const reference_NW = new Float64Array(size);
  for (let n = 0, level = 0, first = 0; n < size / width; n++) {
    if (n === first + width ** level) first += width ** level++;
    const before = level === 0 ? -1 : (n - 1) % width;
    const stream = random.split("reference", n);
    const logits = Array.from({ length: width }, () => stream.normal());
    const total = Math.log(logits.reduce((sum, z) => sum + Math.exp(z), 0));
    for (let a = 0; a < width; a++) {
      reward_NW[n * width + a] = random.split("reward", level, before, a).normal();
      reference_NW[n * width + a] = logits[a]! - total;
    }
  }
  return { width, depth, reward_NW, reference_NW };
}

/** Pairs of answers of the reference, as leaves: the first is preferred, by Bradley and Terry's model of the rewards. */
function drawPairs(tree: TokenTree, count: number, random: Random): [winner: number, loser: number][] {
  const reached_NW = visits(tree, tree.reference_NW);
  const leaves = width ** depth;
  const [ends, rewards] = [reached_NW.subarray(-leaves), alongTo(tree.reward_NW)];
  const draw = (): number => {
    let left = random.next();
    let leaf = -1;
    while (left >= 0 && leaf < leaves - 1) left -= ends[++leaf]!;
    return leaf;
  };
  return Array.from({ length: count }, () => {
    const [a, b] = [draw(), draw()];
    return random.next() < 1 / (1 + Math.exp(rewards[b]! - rewards[a]!)) ? [a, b] : [b, a];
  });
}

/** Sum of per-token numbers along every whole answer, by leaf. */
function alongTo(of_NW: Float64Array): Float64Array {
  const sum_NW = new Float64Array(of_NW.length);
  for (let i = 0; i < of_NW.length; i++) {
    const n = Math.floor(i / width);
    sum_NW[i] = (n === 0 ? 0 : sum_NW[n - 1]!) + of_NW[i]!;
  }
  return sum_NW.slice(-(width ** depth));
}

function logSoftmaxRows(logits_NW: Float64Array): Float64Array {
  const out_NW = logits_NW.slice();
  for (let n = 0; n < out_NW.length; n += width) {
    const row = out_NW.subarray(n, n + width);
    const top = row.reduce((a, b) => Math.max(a, b));
    const total = top + Math.log(row.reduce((sum, z) => sum + Math.exp(z - top), 0));
    row.forEach((_, a) => {
      row[a]! -= total;
    });
  }
  return out_NW;
}

/** Direct preference optimisation of one softmax per prefix, from the reference, with Adam over all pairs at once. */
function tune(tree: TokenTree, pairs: readonly (readonly [number, number])[], learningRate: number) {
  const logits_NW = tree.reference_NW.slice();
  const [m, v] = [new Float64Array(logits_NW.length), new Float64Array(logits_NW.length)];
  const ofWinners: number[] = [];
  for (let step = 1; step <= steps; step++) {
    const logp_NW = logSoftmaxRows(logits_NW);
    const implied = alongTo(impliedCredits(logp_NW, tree.reference_NW, beta));
    ofWinners.push(pairs.reduce((sum, [winner]) => sum + implied[winner]! / pairs.length, 0));
    const onLeaf = new Float64Array(implied.length);
    for (const [winner, loser] of pairs) {
      const slope = -1 / (1 + Math.exp(implied[winner]! - implied[loser]!)) / pairs.length;
      onLeaf[winner]! += slope;
      onLeaf[loser]! -= slope;
    }
    // a token's gradient sums over its subtree, then passes through each softmax
    const below_NW = new Float64Array(logits_NW.length);
    below_NW.set(onLeaf, logits_NW.length - onLeaf.length);
    for (let i = logits_NW.length - onLeaf.length - 1; i >= 0; i--) {
      for (let a = 0; a < width; a++) below_NW[i]! += below_NW[(i + 1) * width + a]!;
    }
    const gradient_NW = below_NW.map((g, i) => {
      const from = i - (i % width);
      let all = 0;
      for (let a = 0; a < width; a++) all += below_NW[from + a]!;
      return beta * (g - Math.exp(logp_NW[i]!) * all);
    });
    adamwStep(logits_NW, gradient_NW, m, v, {
      ...adamwDefaults,
      learningRate: learningRate * (1 - (step - 1) / steps),
      weightDecay: 0,
      step,
    });
  }
  return { logp_NW: logSoftmaxRows(logits_NW), ofWinners };
}

/** @param against reference values for the tuned policy's credits. */
const arm = (what: string, against: "reward" | "shaped", count = 20_000): Arm => ({
  what,
  grid: [0.01, 0.03, 0.1, 0.3].map((rate) => ({ learningRate: rate })),
  async measure({ learningRate }, seed) {
    const random = randomStream(seed);
    const tree = makeTree(random);
    const pairs = drawPairs(tree, count, random.split("pairs"));
    const { logp_NW, ofWinners } = tune(tree, pairs, Number(learningRate));
    const { value_N } = softOptimal(tree, beta);
    const wanted = against === "reward" ? tree.reward_NW : shapedRewards(tree, value_N);
    const credits = impliedCredits(logp_NW, tree.reference_NW, beta);
    const rewardOf = (beam: number) => sumAlong(tree, tree.reward_NW, beamSearch(tree, logp_NW, beam));
    return {
      value: correlation(credits, wanted, visits(tree, tree.reference_NW)),
      cost: { episodes: 2 * count, tokens: 2 * depth * count },
      more: {
        "reward, greedy": rewardOf(1),
        "reward, beam of 5": rewardOf(5),
        "implied reward of winners, highest": Math.max(...ofWinners),
        "implied reward of winners, last": ofWinners.at(-1)!,
      },
    };
  },
});

export default defineCheck({
  id: "r-to-qstar",
  level: "law",
  claim:
    "Credits implied by a policy tuned on preferences follow the shaped reward of each token, more closely than its raw reward.",
  metric: "correlation of implied credits with the quantity, weighted by the reference",
  direction: "higher",
  smallestEffect: 0.05,
  range: [-1, 1],
  tuningSeeds: 2,
  baseline: arm("raw reward of each token, 20 000 pairs", "reward"),
  method: arm("reward shaped by the optimal value, 20 000 pairs", "shaped"),
  others: { few: arm("reward shaped by the optimal value, 2 000 pairs", "shaped", 2000) },
});
