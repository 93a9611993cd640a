import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { tryAgain } from "../../../worlds/tryAgain.ts";
import { byAttempt } from "./foldedBack.ts";
import { smartMetastrategy } from "./method.ts";
import { matchOf, strategies } from "./strategies.ts";

obeysTheLaws(() => strategies({ problems: 60, matching: 1 }), { garbage: 0.6 });

test("strategies: the matching one solves most problems, another one few", async () => {
  const environment = strategies({ problems: 600, seed: 4 });
  const rate = async (wrong: boolean): Promise<number> => {
    let right = 0;
    for (const task of environment.tasks("train")) {
      const episode = await environment.start(task, randomStream(task.seed));
      const match = matchOf(task);
      const content = wrong ? (match === "s0" ? "s1" : "s0") : match;
      right += (await episode.act({ content, stop: "eos" })).rewards!.outcome! / 600;
    }
    return right;
  };
  assert.ok(Math.abs((await rate(false)) - 0.9) < 0.04);
  assert.ok(Math.abs((await rate(true)) - 0.2) < 0.05);
});

test("the attempt that worked becomes the first, without the failures before it", async () => {
  const environment = tryAgain(strategies({ problems: 12 }), { turns: 3, words: "wrong" });
  const found: Trajectory[] = [];
  const taught = new Map<string, number>();
  const { curve } = await trainInMemory({
    environment,
    engine: tabularEngine({
      prior: (context, word) => (/^s\d$/.test(word) && !context.includes(word) ? 0 : -1e9),
    }),
    method: smartMetastrategy.build({ tasks: 12, groupSize: 4, learningRate: 0 }, { late: 2 }),
    seed: 1,
    iterations: 1,
    onIteration: ({ experience, advantages }) => {
      found.push(...experience.trajectories);
      for (const { id } of experience.trajectories) {
        const own = advantages.get(id);
        if (own) taught.set(id, own[0]!);
      }
    },
  });
  const parents = new Map(found.map((t) => [t.id, t]));
  let [firsts, folds] = [0, 0];
  for (const t of found) {
    const parent = t.lineage?.why === "rewrite" ? parents.get(t.lineage.parent)! : undefined;
    if (parent) {
      folds++;
      assert.equal(t.turns.length, 1);
      assert.deepEqual(t.turns[0]!.action, parent.turns.at(-1)!.action);
      assert.deepEqual(t.turns[0]!.prompt, parent.turns[0]!.prompt);
      assert.deepEqual([...t.turns[0]!.tokens!.prompt], [...parent.turns[0]!.tokens!.prompt]);
      assert.ok(parent.turns.length > 1 && parent.turns.at(-1)!.rewards.outcome === 1);
      assert.equal(taught.get(t.id), 2);
    } else if (t.turns.length === 1) {
      firsts++;
      assert.equal(taught.get(t.id), 1);
    } else assert.equal(taught.get(t.id), undefined); // chains themselves are not imitated
  }
  assert.ok(firsts > 5 && folds > 5, `${firsts} and ${folds}`);
  const [{ first, folded }] = curve as [Record<string, number>];
  assert.ok(Math.abs(first! - firsts / 48) < 1e-9 && Math.abs(folded! - folds / 48) < 1e-9);
});

test("byAttempt: 1 for a first success, `late` for one that was folded back, nothing outside of units", () => {
  const at = (id: string, turn: number) =>
    trajectoryOf(id, [turnOf([1], [2, 3])], {
      ...(turn > 0 && { lineage: { parent: "p", turn, why: "rewrite" as const } }),
    });
  const { advantages } = byAttempt({ late: 0.5 }).apply(
    {
      trajectories: [at("first", 0), at("second", 1), at("third", 2), at("no unit", 1)],
      units: ["first", "second", "third"].map((id) => ({ id, group: "task", members: [id] })),
      notes: {},
      signals: [],
      channels: {},
    },
    null,
    undefined,
  );
  assert.deepEqual(
    [...advantages].map(([id, own]) => [id, ...own]),
    [
      ["first", 1, 1],
      ["second", 0.5, 0.5],
      ["third", 0.5, 0.5],
    ],
  );
});
