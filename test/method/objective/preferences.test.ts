import assert from "node:assert/strict";
import { test } from "node:test";
import { pairRows } from "../../../src/core/pack.ts";
import { tabularEngine } from "../../../src/engine/tabular/engine.ts";
import { annotated } from "../../../src/env/annotated.ts";
import { divergence, softmax, winRates } from "../../../src/env/equilibrium.ts";
import { preferenceGame, preferencesOf, repliesOf } from "../../../src/env/preferenceGame.ts";
import type { Recipe } from "../../../src/method/method.ts";
import { inpo } from "../../../src/method/objective/inpo.ts";
import { nashMd } from "../../../src/method/objective/nash-md.ts";
import { nashMirrorProx } from "../../../src/method/objective/nash-mirror-prox.ts";
import { seppo } from "../../../src/method/objective/seppo.ts";
import { srpoSelfImproving } from "../../../src/method/objective/srpo-self-improving.ts";
import type { Settings } from "../../../src/method/settings.ts";
import { type Practised, practise } from "../../../src/train/practise.ts";

const settings = { schedule: "linear", warmUp: 0, learningRate: 0.1, gradientClip: 1e9 } as const;

/** Three replies in a circle; a reference that likes the last least. */
const game = preferenceGame({ questions: 1, replies: 3, strength: [0.9, 0.9] });
const [task] = game.tasks("train");
const logits: Readonly<Record<string, number>> = { r0: 0.5, r1: 0.5, r2: -1 };
const reference = softmax(Object.values(logits));

const play = (
  recipe: Recipe,
  groupSize: number,
  iterations: number,
  more: Partial<Settings> = {},
): Promise<Practised> =>
  practise({
    environment: game,
    method: recipe.build({ ...settings, tasks: 1, groupSize, ...more }),
    engine: tabularEngine({ prior: (_, word) => logits[word] ?? -1e9 }),
    seed: 2,
    iterations,
  });

async function policyOf({ policy }: Practised): Promise<Float32Array> {
  const ids = Int32Array.from(repliesOf(3), (word) => policy.codec.encode(word)[0]!);
  const rows = pairRows([{ prompt: policy.codec.open(task!.prompt), target: ids.subarray(0, 1) }]);
  return (await policy.score(rows, { at: { ids, width: 3 } })).at!.map(Math.exp);
}

const descent = { optimiser: "sgd", learningRate: 6 } as const;
const itself = (policy: ArrayLike<number>): ArrayLike<number> => policy;
const halfway = (policy: ArrayLike<number>): ArrayLike<number> =>
  softmax(reference.map((p, y) => Math.log(p * policy[y]!) / 2));

/** How far a policy is from the best reply to its opponent, at the methods' penalty: μ(y) exp(P(y ≻ opponent)/0.1). */
function regret(policy: ArrayLike<number>, opponentOf: typeof itself): number {
  const wins = winRates(preferencesOf(task!), opponentOf(policy));
  return divergence(softmax(wins.map((w, y) => Math.log(reference[y]!) + w / 0.1)), policy);
}

for (const [recipe, opponentOf, groupSize, iterations, more] of [
  [nashMd, halfway, 16, 80, descent],
  [nashMirrorProx, itself, 16, 80, descent],
  [inpo, itself, 128, 15, {}],
] as const) {
  test(`${recipe.id} comes near the best reply to its own opponent`, async () => {
    const from = regret(reference, opponentOf);
    const left = regret(await policyOf(await play(recipe, groupSize, iterations, more)), opponentOf);
    assert.ok(left < from / 2, `from ${from} to ${left}`);
  });
}

test("srpo-self-improving comes near its closed form: ref(y)/Z(y), Z(d) = Σ ref(y) exp(P(y ≻ d)/β)", async () => {
  const prefers = preferencesOf(task!);
  const Z = [0, 1, 2].map((d) =>
    reference.reduce((sum, p, y) => sum + p * Math.exp(prefers[y]![d]! / 0.3), 0),
  );
  const closed = softmax(Z.map((z, y) => Math.log(reference[y]! / z)));
  const learnt = await policyOf(await play(srpoSelfImproving, 16, 80));
  assert.ok(divergence(closed, reference) > 0.03);
  assert.ok(divergence(closed, learnt) < 0.01, `ends at ${divergence(closed, learnt)}`);
});

test("seppo learns what was shown, with a pool that is smaller than the run is long", async () => {
  const environment = annotated({ questions: 6, topics: 2, replies: 4 });
  const { curve } = await practise({
    environment,
    method: seppo.build({ ...settings, tasks: 6, groupSize: 1 }),
    engine: tabularEngine({
      context: 3,
      prior: (context, word) => {
        const said = /^a\d+$/.test(context.at(-1) ?? "");
        return (said ? word === "<end>" : /^a\d+$/.test(word)) ? 0 : -1e9;
      },
    }),
    seed: 1,
    iterations: 12,
  });
  const reward = (part: typeof curve): number => part.reduce((sum, m) => sum + m.reward! / part.length, 0);
  assert.ok(reward(curve.slice(-4)) > reward(curve.slice(0, 4)) + 0.2);
});
