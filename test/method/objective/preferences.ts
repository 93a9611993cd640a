/** A preference game whose exact solution methods that learn from comparisons must reach. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pairRows } from "../../../src/common/tokens/pack.ts";
import { tabularEngine } from "../../../src/engine/tabular/engine.ts";
import type { Recipe } from "../../../src/method/method.ts";
import type { Settings } from "../../../src/method/settings.ts";
import { type TrainedInMemory, trainInMemory } from "../../../src/train/trainInMemory.ts";
import { divergence, softmax, winRates } from "../../../src/worlds/equilibrium.ts";
import { preferenceGame, preferencesOf, repliesOf } from "../../../src/worlds/preferenceGame.ts";

export const settings = { schedule: "linear", warmUp: 0, learningRate: 0.1, gradientClip: 1e9 } as const;

/** Three replies with cyclic preferences, and a reference policy that gives the last the least probability. */
const game = preferenceGame({ questions: 1, replies: 3, strength: [0.9, 0.9] });
export const [task] = game.tasks("train");
const logits: Readonly<Record<string, number>> = { r0: 0.5, r1: 0.5, r2: -1 };
export const reference = softmax(Object.values(logits));

export const play = (
  recipe: Recipe,
  groupSize: number,
  iterations: number,
  more: Partial<Settings> = {},
): Promise<TrainedInMemory> =>
  trainInMemory({
    environment: game,
    method: recipe.build({ ...settings, tasks: 1, groupSize, ...more }),
    engine: tabularEngine({ prior: (_, word) => logits[word] ?? -1e9 }),
    seed: 2,
    iterations,
  });

export async function policyOf({ policy }: TrainedInMemory): Promise<Float32Array> {
  const ids = Int32Array.from(repliesOf(3), (word) => policy.codec.encode(word)[0]!);
  const rows = pairRows([{ prompt: policy.codec.open(task!.prompt), target: ids.subarray(0, 1) }]);
  return (await policy.score(rows, { at: { ids, width: 3 } })).at!.map(Math.exp);
}

export const descent = { optimiser: "sgd", learningRate: 6 } as const;
export const itself = (policy: ArrayLike<number>): ArrayLike<number> => policy;
export const halfway = (policy: ArrayLike<number>): ArrayLike<number> =>
  softmax(reference.map((p, y) => Math.log(p * policy[y]!) / 2));

/** How far a policy is from the best reply to its opponent, at the methods' penalty: μ(y) exp(P(y ≻ opponent)/0.1). */
function regret(policy: ArrayLike<number>, opponentOf: typeof itself): number {
  const wins = winRates(preferencesOf(task!), opponentOf(policy));
  return divergence(softmax(wins.map((w, y) => Math.log(reference[y]!) + w / 0.1)), policy);
}

/** Tests that a method, starting from the reference, comes near the best reply to its opponent. */
export function comesNearItsBestReply(
  recipe: Recipe,
  opponentOf: typeof itself,
  groupSize: number,
  iterations: number,
  more: Partial<Settings> = {},
): void {
  test(`${recipe.id} comes near the best reply to its own opponent`, async () => {
    const from = regret(reference, opponentOf);
    const left = regret(await policyOf(await play(recipe, groupSize, iterations, more)), opponentOf);
    assert.ok(left < from / 2, `from ${from} to ${left}`);
  });
}
