import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { randomStream } from "../../../core/random.ts";
import type { Message, Task } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { answers } from "../../../worlds/answers.ts";
import { discussion, evaluationQuestion, gradeIn, scoreQuestion } from "./discussion.ts";
import { comas, discussing } from "./method.ts";

const prompt: readonly Message[] = [{ role: "user", content: "q" }];
const task: Task = { id: "t", prompt, metadata: {}, seed: 1 };
const participants = ["x", "y", "z"].map((name) => ({ name, model: name }));

/** One solution of one task; every evaluation says `hm`, and scores say what `score` gives for the scorer. */
async function discussed(score: (scorer: string) => string, evaluations = 1) {
  const vocabulary = ["q x y z yes hm 1 2 3\n", evaluationQuestion, scoreQuestion];
  const engine = tabularEngine({
    prior: (context, word) => {
      if (context.at(-1) !== "<assistant>") return word === "<end>" ? 50 : 0;
      const speaker = context[context.lastIndexOf("<user>") + 1]!;
      return word === (context.includes("Grade") ? score(speaker) : "hm") ? 50 : 0;
    },
  });
  const model = await engine.create({ id: "policy", seed: 1, vocabulary, contextTokens: 64 });
  const asked: string[] = [];
  const ctx = ctxOf({
    random: randomStream(1),
    tasks: [task],
    task: () => task,
    model: (id) => {
      asked.push(id!);
      return model;
    },
    play: async ({ attempt, models, advice }) => {
      assert.equal(models?.agent, advice);
      const action = { role: "assistant", content: "yes" } as const;
      return [trajectoryOf(`s${attempt}`, [turnOf([1], [2], { prompt, action, rewards: { outcome: 9 } })])];
    },
  });
  const all = await discussion({ participants, groupSize: 1, evaluations })(ctx);
  const rewards = Object.fromEntries(
    all.trajectories.map(({ id, turns }) => [id, turns[0]!.rewards.discussion]),
  );
  return { ...all, rewards, asked };
}

test("a grade of 2 is a reward of ½ for the solution and for the evaluation, and 0 for the score", async () => {
  const { rewards, units, asked, stats } = await discussed(() => "2");
  assert.deepEqual(rewards, { s0: 0.5, "s0/evaluation 0": 0.5, "s0/score 0": 0 });
  assert.deepEqual(stats, { graded: 1, grade: 2 });
  const by = units.map(({ group }) => group.split("/"));
  assert.deepEqual(
    by.map(([role]) => role),
    ["solution", "evaluation", "score"],
  );
  // three different participants
  assert.equal(new Set(by.map(([, name]) => name)).size, 3);
  assert.deepEqual(new Set(asked), new Set(by.slice(1).map(([, name]) => name)));
});

test("grades 3 and 1 go to the solution and to the evaluation whole", async () => {
  assert.deepEqual((await discussed(() => "3")).rewards, { s0: 1, "s0/evaluation 0": 0, "s0/score 0": 0 });
  assert.deepEqual((await discussed(() => "1")).rewards, { s0: 0, "s0/evaluation 0": 1, "s0/score 0": 0 });
});

test("without a grade the score is paid −1, and nobody else anything", async () => {
  const { rewards, stats } = await discussed(() => "hm");
  assert.deepEqual(rewards, { s0: undefined, "s0/evaluation 0": undefined, "s0/score 0": -1 });
  assert.deepEqual(stats, { graded: 0 });
});

test("of several evaluations the solution is paid the mean of those that were graded", async () => {
  // the participants take turns: three evaluations have three scorers, one of whom grades 3, one 1, and one not at all
  const { rewards } = await discussed((scorer) => ({ x: "3", y: "1" })[scorer] ?? "hm", 3);
  assert.equal(rewards.s0, 0.5);
});

test("gradeIn: the only digit from 1 to 3", () => {
  const grade = (score: string) => gradeIn({ solution: "", evaluation: "", score });
  assert.deepEqual(["2", "so 3 .", "3 or 1", "4", "31", "", "2 2"].map(grade), [
    ...[2, 3, undefined, undefined, undefined, undefined, 2],
  ]);
});

test("rewards are normalised within a role of one agent, and what has no reward is not trained", async () => {
  const ids = ["a", "b", "c", "d"];
  const trajectories = ids.map((id, i) =>
    trajectoryOf(id, [turnOf([1], [2], { rewards: i < 3 ? { discussion: [0, 1, 0][i]!, outcome: 7 } : {} })]),
  );
  const groups = ["solution/x", "solution/x", "score/x", "solution/x"];
  const units = ids.map((id, i) => ({ id, group: groups[i]!, members: [id] }));
  const slots = discussing({ participants }, 0);
  const [feedback, advantage] = [[slots.feedback!].flat(), [slots.advantage!].flat()];
  const signals = await feedback[0]!(ctxOf({}), { trajectories, units }, {});
  const outcome = signals.map((s) => ({ at: s.about[0]!, value: s.kind === "reward" ? s.value : 0 }));
  const annotated = { trajectories, units, notes: {}, signals, channels: { outcome } };
  const { advantages } = advantage[0]!.apply(annotated, null, undefined);
  assert.deepEqual(
    [...advantages].map(([id, [first]]) => [id, first! + 0]),
    [
      ["a", -1],
      ["b", 1],
      ["c", 0],
    ],
  );
});

test("all three agents learn", async () => {
  const { counters, curve } = await trainInMemory({
    environment: answers({ questions: 4, vocabulary: 3, right: 1 }),
    engine: tabularEngine({
      prior: (context, word) => {
        if (context.at(-1) !== "<assistant>") return word === "<end>" ? 9 : 0;
        return /^(a\d|[123])$/.test(word) ? 3 : 0;
      },
    }),
    method: comas.build({ tasks: 3, groupSize: 4, optimiser: "sgd", learningRate: 1 }),
    seed: 1,
    iterations: 2,
  });
  assert.equal(counters["judge.calls"], 2 * 3 * 4 * 2);
  assert.ok(curve.every(({ graded = 0 }) => graded > 0));
});
