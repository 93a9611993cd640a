import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Able } from "../../../core/evaluator.ts";
import { randomStream } from "../../../core/random.ts";
import { signalValue } from "../../../core/signal.ts";
import type { Ending, Message, Stats, Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { submissionOf } from "./evidence.ts";
import { provenReward, votedReward } from "./provenReward.ts";
import { proofQuestions, readerJudge } from "./readerJudge.ts";
import { appFeatures, appPrior, proves, settingsApp } from "./settingsApp.ts";

obeysTheLaws(() => settingsApp({ tasks: 4 }), { garbage: 0.5 });

const user = (content: string): Message => ({ role: "user", content });
const said = (content: string): Message => ({ role: "assistant", content });
const submitted: Ending = { kind: "done", reason: "submitted", success: true };

/** These actions, each but the last answered by `seen k`. */
function attempt(id: string, actions: readonly string[], end = submitted): Trajectory {
  const turns = actions.map((action, k) =>
    turnOf([1], [2], {
      prompt: [
        user("task"),
        ...actions.slice(0, k).flatMap((done, i) => [said(done), user(`seen ${i + 1}`)]),
      ],
      action: said(action),
    }),
  );
  return trajectoryOf(id, turns, { end });
}

test("a submission is the last action, once, and names observations that exist, each once", () => {
  const submission = (...actions: string[]) => submissionOf(attempt("t", actions))?.shown;
  assert.deepEqual(submission("open", "toggle", "submit 2 1 : it is on 5"), ["seen 2", "seen 1"]);
  assert.deepEqual(submission("open", "submit"), []);
  assert.equal(submission("open", "submit 2"), undefined, "its own observation is none");
  assert.equal(submission("open", "submit 0"), undefined);
  assert.equal(submission("open", "submit 1 1"), undefined);
  assert.equal(submission("submit", "submit 1"), undefined);
  assert.equal(submission("open", "open"), undefined);
  const cut: Ending = { kind: "truncated", limit: "turns", at: 2 };
  assert.equal(submissionOf(attempt("t", ["open", "submit 1"], cut)), undefined);
});

test("most votes decide; no success without valid evidence; honest evidence of a failure lies between", () => {
  const vote = (success: number, valid: number): Stats => ({ success, valid });
  assert.equal(votedReward([vote(1, 1), vote(1, 1), vote(0, 0)]), 1);
  assert.equal(votedReward([vote(1, 1), vote(0, 1), vote(0, 1)]), 0);
  assert.equal(votedReward([vote(1, 1), vote(0, 0)]), -1, "half is not most");
  assert.equal(votedReward([vote(1, 0), vote(1, 0), vote(1, 0)]), -1);
  assert.equal(votedReward([vote(0, 1)], -1), -1);
  assert.equal(votedReward([]), undefined);
});

test("the judge sees the task and what was chosen; failed calls do not count, and a long list costs", async () => {
  const shown: string[][] = [];
  let failing = 0;
  const judge: Able<"score"> = {
    name: "judge",
    score: async ([item], { random }) => {
      shown.push(item!.trajectory.turns.at(-1)!.prompt.map(({ content }) => content));
      return random.next() < failing ? undefined : [{ success: 1, valid: 1 }];
    },
  };
  const counts = new Map<string, number>();
  const ctx = ctxWith(
    {},
    {
      count: (counter, n) => void counts.set(counter, (counts.get(counter) ?? 0) + n),
      task: (id) => ({ id, prompt: [user("task")], metadata: {}, seed: 1 }),
    },
  );
  const rewards = async (...trajectories: Trajectory[]) =>
    (await provenReward({ judge })(ctx, { trajectories, units: [] }, {})).map(signalValue);
  const many = attempt("many", ["a", "b", "c", "d", "e", "submit 1 2 3 4 5"]);
  const failed = attempt("f", ["a"], { kind: "failed", boundary: "tool", message: "gone" });
  assert.deepEqual(
    await rewards(attempt("one", ["a", "b", "submit 2"]), attempt("none", ["a"]), failed),
    [1, -1],
  );
  assert.deepEqual(shown, [
    ["task", "seen 2"],
    ["task", "seen 2"],
    ["task", "seen 2"],
  ]);
  const [value] = await rewards(many);
  assert.ok(Math.abs(value! - 0.8) < 1e-9);
  failing = 1;
  assert.deepEqual(await rewards(attempt("lost", ["a", "submit 1"])), []);
  assert.equal(counts.get("judge.failures"), 3);
});

test("a model reads evidence and answers both questions from its probabilities", async () => {
  const engine = tabularEngine({
    prior: (context, word) => (word === (context.includes("done?") ? "YES" : "NO") ? 20 : 0),
  });
  const vocabulary = [`task seen 2 submit ${Object.values(proofQuestions).join(" ")} YES NO`];
  const model = await engine.create({ id: "judge", seed: 1, vocabulary, contextTokens: 64 });
  const trajectory = trajectoryOf("t", [
    turnOf([1], [2], { prompt: [user("task"), user("seen 2")], action: said("submit 2") }),
  ]);
  const item = { task: { id: "t", prompt: [], metadata: {}, seed: 1 }, trajectory };
  const run = { count: () => {}, model: () => model };
  const scores = await readerJudge("judge").score([item], { random: randomStream(1), run });
  assert.deepEqual(scores, [{ success: 1, valid: 0 }]);
});

test("the app shows what was done only when its page is opened again, and the rule reads the newest proof", async () => {
  const environment = settingsApp({ tasks: 1 });
  const [task] = environment.tasks("train");
  const goal = String(task!.metadata.goal);
  const page = `p${Math.floor(Number(goal.slice(1)) / 2)}`;
  const episode = await environment.start(task!, randomStream(1));
  const shown: string[] = [];
  await episode.observe();
  for (const content of [`toggle ${goal}`, `open ${page}`, `toggle ${goal}`, `open ${page}`]) {
    await episode.act({ content, stop: "eos" });
    shown.push((await episode.observe()).observation.messages[0]!.content);
  }
  assert.equal(shown[0], "nothing", "its page was not open");
  assert.ok(shown[1]!.includes(`${goal} off`) && shown[3]!.includes(`${goal} on`));
  assert.equal(shown[2], "done");
  assert.equal((await episode.act({ content: "submit 4", stop: "eos" })).rewards?.outcome, 1);
  const sober = { ...randomStream(1), next: () => 0 };
  const proof = (...k: number[]) =>
    proves(
      task!,
      k.map((i) => shown[i]!),
      sober,
    );
  assert.deepEqual(proof(1, 3), { success: 1, valid: 1 });
  assert.deepEqual(proof(1), { success: 0, valid: 1 });
  assert.deepEqual(proof(2), { success: 0, valid: 0 });
  // one other observation confuses with probability 0.1
  const confused = { ...sober, next: () => 0.95 };
  assert.equal(proves(task!, [shown[2]!, shown[3]!], confused).success, 0);
  assert.equal(proves(task!, [shown[3]!], confused).success, 1);
  const heard = ["<user>", "turn", "on", goal, "<end>", "<assistant>", "open", page, "<end>", "<user>"];
  const context = [...heard, ...shown[1]!.split(" "), "<end>", "<assistant>"];
  assert.deepEqual(appFeatures(context), ["here true toggled false proof true"]);
  assert.deepEqual(appFeatures([...context, "submit"]), ["submit proof 1 of 1 "]);
  assert.deepEqual(
    ["1", "2"].map((word) => appPrior([...context, "submit"], word)),
    [0, -1e9],
  );
});
