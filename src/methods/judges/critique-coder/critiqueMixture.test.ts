import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { randomStream } from "../../../core/random.ts";
import { succeeded } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { answers } from "../../../worlds/answers.ts";
import { critiqueMixture } from "./critiqueMixture.ts";
import { critiqueCoder } from "./method.ts";

const played = async (share: number) => {
  const groups: { solve: number; judge: number; tasks: number; labels: number[] }[] = [];
  await trainInMemory({
    environment: answers({ questions: 20, vocabulary: 2, right: 1 }),
    engine: tabularEngine({
      prior: (context, word) => {
        if (context.at(-1) !== "<assistant>") return word === "<end>" ? 0 : -1e9;
        return (context.includes("RIGHT") ? /^(RIGHT|WRONG)$/ : /^a\d$/).test(word) ? 0 : -1e9;
      },
    }),
    method: critiqueCoder.build({ tasks: 10, groupSize: 4, optimiser: "sgd", learningRate: 1 }, { share }),
    seed: 1,
    iterations: 3,
    onIteration: ({ experience: { units, trajectories } }) => {
      const byId = new Map(trajectories.map((t) => [t.id, t]));
      const of = (role: string) => units.filter(({ members: [id] }) => byId.get(id!)!.role === role);
      const judged = new Set(of("critiquer").map(({ group }) => group));
      for (const { members } of of("critiquer")) {
        const { turns } = byId.get(members[0]!)!;
        const [verdict] = turns[0]!.action.content.match(/RIGHT|WRONG/) ?? [];
        const about = byId.get(units.find((unit) => unit.members[0] === members[0])!.group)!;
        assert.equal(turns[0]!.rewards.rating, Number(succeeded(about) === (verdict === "RIGHT")));
      }
      groups.push({
        solve: new Set(of("agent").map(({ group }) => group)).size,
        judge: judged.size,
        tasks: new Set(trajectories.map(({ task }) => task)).size,
        labels: [...judged].map((id) => Number(succeeded(byId.get(id)!))),
      });
      assert.equal(units.length, 40, "the batch keeps its size");
    },
  });
  return groups;
};

test("a share of the prompts asks for verdicts on attempts of the others, right and wrong in balance", async () => {
  for (const { solve, judge, tasks, labels } of await played(0.4)) {
    assert.deepEqual([solve, judge, tasks], [6, 4, 6]);
    assert.equal(
      labels.reduce((a, b) => a + b),
      2,
    );
  }
});

test("without a share it is the baseline; one task is always solved", async () => {
  for (const { solve, judge } of await played(0)) assert.deepEqual([solve, judge], [10, 0]);
});

test("attempts that are all right leave one critique prompt at most, and a failed one is not judged", async () => {
  const asked: string[] = [];
  const ctx = ctxOf({
    tasks: ["a", "b", "c", "d"].map((id) => ({ id, prompt: [], metadata: {}, seed: 1 })),
    random: randomStream(1),
    task: (id) => ({ id, prompt: [], metadata: {}, seed: 1 }),
    count: () => {},
    model: (id) => {
      asked.push(String(id));
      throw new Error("nobody is asked here");
    },
    play: async ({ task }) => [
      trajectoryOf(`${task}/0`, [turnOf([1], [2])], {
        task: String(task),
        end:
          task === "c"
            ? { kind: "failed", boundary: "model", message: "gone" }
            : { kind: "done", reason: "said", success: true },
      }),
    ],
  });
  // half of four prompts are judgements: c and d are solved, c fails, and d alone can be judged
  const rollout = critiqueMixture({ groupSize: 1, temperature: 1, share: 0.5 });
  await rollout(ctx); // its judgement fails, and costs nothing else
  assert.deepEqual(asked, ["policy"]);
});
