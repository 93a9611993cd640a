import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf } from "../../../../test/core/make.ts";
import type { Play } from "../../../core/context.ts";
import { isWhetstoneError } from "../../../core/errors.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { vocabularyCodec } from "../../../engine/tabular/codec.ts";
import { tabularModel } from "../../../engine/tabular/model.ts";
import { newWeights } from "../../../engine/tabular/weights.ts";
import { scopedFeedback } from "./scopedFeedback.ts";

const codec = vocabularyCodec(["a b mail please"]);
const policy = tabularModel("policy", newWeights(codec, "message"), 32);
const user = (content: string) => ({ role: "user", content }) as const;

const taskOf = (id: string, scope: string): Task => ({
  id,
  prompt: [user("mail")],
  metadata: { scope, wish: "please" },
  seed: 1,
});

/** A base that says a, which pays nothing, unless it is advised: then b, which pays; or still a where it does not listen. */
function baseOf(deaf: readonly string[], broken: readonly string[] = []) {
  const plays: Play[] = [];
  const play = async (wanted: Play): Promise<readonly Trajectory[]> => {
    plays.push(wanted);
    const { task, attempt, advice } = wanted;
    assert.ok(typeof task === "string");
    const said = advice !== undefined && !deaf.includes(task) ? "b" : "a";
    const prompt = [user("mail"), ...(typeof advice === "string" ? [user(advice)] : [])];
    const id = `${task}#${attempt}`;
    const failed = { kind: "failed", boundary: "model", message: "" } as const;
    const action = codec.encode(said);
    const logp = Float32Array.of(-0.5);
    return [
      trajectoryOf(
        id,
        [
          {
            role: "agent",
            model: "reference",
            version: "0",
            prompt,
            action: { role: "assistant", content: said },
            tokens: { prompt: codec.open(prompt), action, logp, behaviour: logp },
            spans: {},
            stop: "eos",
            rewards: { outcome: said === "b" ? 1 : 0 },
            ms: 0,
          },
        ],
        { task, ...(broken.includes(task) && { end: failed }) },
      ),
    ];
  };
  return { play, plays };
}

async function gathered(tasks: readonly Task[], base: ReturnType<typeof baseOf>, perTask = 1) {
  return scopedFeedback({ perTask })(ctxOf({ tasks: tasks, model: () => policy, play: base.play }));
}

test("pairs where feedback applies, the base's own answers elsewhere, all from the base", async () => {
  const base = baseOf(["c"], ["f"]);
  const tasks = [
    taskOf("i", "in"),
    taskOf("n", "near"),
    taskOf("o", "out"),
    taskOf("c", "in"),
    taskOf("f", "out"),
  ];
  const { units, trajectories, stats } = await gathered(tasks, base);
  assert.deepEqual(
    units.map(({ id, group }) => [id, group]),
    [
      ["i#0", "in/i/0"],
      ["i#1/plain", "in/i/0"],
      ["n#0", "near/n"],
      ["o#0", "out/o"],
    ],
  );
  assert.deepEqual(stats, { kept: 0.5 }, "what did not listen is dropped");
  assert.ok(base.plays.every(({ models }) => models?.agent === "reference"));
  assert.ok(trajectories.every(({ turns }) => turns.every(({ model }) => model === "policy")));
});

test("a revision stands after the bare prompt, with its own tokens and no log-probabilities", async () => {
  const { trajectories } = await gathered([taskOf("i", "in")], baseOf([]));
  const [first, revised] = trajectories.map(({ turns }) => turns[0]!);
  assert.deepEqual(revised?.prompt, [user("mail")]);
  assert.deepEqual(revised?.tokens?.prompt, first?.tokens?.prompt);
  assert.deepEqual(revised?.tokens?.action, codec.encode("b"));
  assert.ok(revised?.tokens?.logp.every(Number.isNaN));
  assert.equal(trajectories[1]?.lineage?.why, "rewrite");
});

test("several of each: pairs in groups of their own, answers in that of their task; without any in scope no rate", async () => {
  const { units } = await gathered([taskOf("i", "in"), taskOf("n", "near")], baseOf([]), 2);
  assert.deepEqual(
    units.map(({ group }) => group),
    ["in/i/0", "in/i/0", "in/i/1", "in/i/1", "near/n", "near/n"],
  );
  assert.equal(new Set(units.map(({ id }) => id)).size, 6);
  assert.equal((await gathered([taskOf("o", "out")], baseOf([]))).stats, undefined);
});

test("a task that says nothing of feedback, or not whether it applies, is an error that says so", async () => {
  const missing = (expected: RegExp) => (e: unknown) =>
    isWhetstoneError(e) && e.code === "capability.missing" && expected.test(e.message);
  await assert.rejects(gathered([taskOf("x", "elsewhere")], baseOf([])), missing(/scope/));
  const mute: Task = { id: "x", prompt: [], metadata: { scope: "in" }, seed: 1 };
  await assert.rejects(gathered([mute], baseOf([])), missing(/wish/));
});
