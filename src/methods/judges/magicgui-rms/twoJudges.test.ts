import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Play } from "../../../core/context.ts";
import { type Attempt, scorer } from "../../../core/evaluator.ts";
import type { Json } from "../../../core/json.ts";
import { randomStream } from "../../../core/random.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { demonstratedSteps } from "./beginning.ts";
import { stepJudge } from "./stepJudge.ts";
import { arbitrated, type LabelledStep, type TwoJudgesOptions, twoJudges } from "./twoJudges.ts";

test("the general judge is believed where it was asked, and disagreements teach", () => {
  const outcomes = ([domain, general]: readonly [boolean, boolean | undefined]) => {
    const { right, teaches } = arbitrated({ domain, general });
    return [right, teaches];
  };
  assert.deepEqual(
    (
      [
        [true, true],
        [false, false],
        [true, false],
        [false, true],
        [true, undefined],
        [false, undefined],
      ] as const
    ).map(outcomes),
    [
      [true, false],
      [false, false],
      [false, true],
      [true, true],
      [true, false],
      [false, false],
    ],
  );
});

test("a judge of the domain learns by whole steps, and weighs right and wrong ones alike", async () => {
  const judge = stepJudge()(randomStream(1));
  const at = async (seen: string, action: string) => (await judge.predict([{ seen, action }]))[0]!;
  assert.equal(await at("s", "a"), 0.5);
  const row = (seen: string, action: string, y: number) => ({ x: { seen, action }, y, weight: 1 });
  // which action is right depends on both words at once
  const steps = ["0 0", "0 1", "1 0", "1 1"].flatMap((seen) =>
    ["same", "other"].map((action) =>
      row(seen, action, Number((seen[0] === seen[2]) === (action === "same"))),
    ),
  );
  await judge.fit(steps);
  for (const { x, y } of steps) assert.equal(Number((await at(x.seen, x.action)) > 0.5), y);
  const copy = stepJudge()(randomStream(2));
  copy.load(judge.save());
  assert.deepEqual(await copy.predict([{ seen: "0 1", action: "same" }]), [await at("0 1", "same")]);
  await judge.fit([row("s", "a", 1), ...Array.from({ length: 9 }, () => row("t", "a", 0))]);
  assert.ok((await at("s", "a")) > 0.5);
});

/** One attempt of three steps, judged by a domain that was taught `beginning` and a general judge that likes "good" alone. */
async function judged(beginning: readonly LabelledStep[], options: Partial<TwoJudgesOptions> = {}) {
  const engine = tabularEngine();
  const policy = await engine.create({
    id: "policy",
    seed: 1,
    vocabulary: ["good bad worse s"],
    contextTokens: 16,
  });
  const [good, bad, worse] = ["good", "bad", "worse"].map((content) =>
    turnOf([1], [2], {
      prompt: [{ role: "user", content: "s" }],
      action: { role: "assistant", content },
    }),
  );
  const attempt = trajectoryOf("t", [good!, bad!, worse!]);
  const domain = stepJudge()(randomStream(1));
  const memory = new Map<string, Json>();
  const asked: string[] = [];
  const ctx = ctxWith(
    {},
    {
      count: () => {},
      model: () => policy,
      helper: () => domain as never,
      memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
    },
  );
  const general = scorer<Attempt>("general", async ({ trajectory }) => {
    const said = trajectory.turns.at(-1)!.action.content;
    asked.push(`${trajectory.turns.length} ${said}`);
    return Number(said === "good");
  });
  const rollout = twoJudges(
    async () => ({ trajectories: [attempt], units: [{ id: "t", group: "g", members: ["t"] }] }),
    { general, beginning: async () => beginning, asked: 1, reflux: true, most: 10, ...options },
  );
  const { rows = [], stats } = await rollout(ctx);
  const targets = rows.map(({ tokens, targets: at }) => policy.codec.decode(tokens.subarray(at[0]!)));
  const believes = async (action: string) => (await domain.predict([{ seen: "s", action }]))[0]!;
  return { targets, stats, asked, believes };
}

const step = (action: string, label: 0 | 1): LabelledStep => ({ seen: "s", action, label });

test("right steps are imitated, wrong ones corrected where both judges accept it", async () => {
  const { targets, stats, asked } = await judged([step("good", 1), step("bad", 0), step("worse", 0)]);
  assert.deepEqual(targets, ["good", "good", "good"]);
  assert.deepEqual(stats, { agreed: 1, corrected: 1 });
  // each step, and each correction in the place of the step
  assert.deepEqual(asked.toSorted(), ["1 good", "2 bad", "2 good", "3 good", "3 worse"]);
});

test("a correction that the general judge refuses is none, and the overruled judge learns, unless it may not", async () => {
  const wrong = [step("good", 0), step("bad", 1), step("worse", 0)];
  const { targets, stats, believes } = await judged(wrong);
  // bad is overruled and has no correction that its judge believes in; worse would become bad, which is refused
  assert.deepEqual(targets, ["good"]);
  assert.ok(Math.abs(stats!.agreed! - 1 / 3) < 1e-9);
  const kept = await judged(wrong, { reflux: false });
  assert.ok((await believes("bad")) < 0.6 && (await kept.believes("bad")) > 0.9);
  assert.ok((await believes("good")) > 0.4 && (await kept.believes("good")) < 0.1);
});

test("without the general judge the domain's verdicts alone are believed", async () => {
  const { targets, asked } = await judged([step("good", 0), step("bad", 1), step("worse", 0)], { asked: 0 });
  assert.deepEqual(targets, ["bad", "bad", "bad"]);
  assert.deepEqual(asked, []);
});

test("reward data: demonstrated steps are right, and each has a wrong one with another's action", async () => {
  const plays: Play[] = [];
  const shown: Trajectory = trajectoryOf(
    "d",
    ["up", "down", "left"].map((content) =>
      turnOf([1], [2], { prompt: [{ role: "user", content: "s" }], action: { role: "assistant", content } }),
    ),
  );
  const ctx = ctxWith(
    {},
    {
      tasks: [{ id: "task", prompt: [], metadata: {}, seed: 1 }],
      play: async (play) => {
        plays.push(play);
        return [shown];
      },
    },
  );
  const steps = await demonstratedSteps(ctx);
  assert.equal(plays[0]!.player, "expert");
  const [right, wrong] = [1, 0].map((label) => steps.filter((s) => s.label === label));
  assert.deepEqual(
    right!.map(({ action }) => action),
    ["up", "down", "left"],
  );
  assert.equal(wrong!.length, 3);
  for (const [i, { action }] of wrong!.entries()) assert.notEqual(action, right![i]!.action);
});
