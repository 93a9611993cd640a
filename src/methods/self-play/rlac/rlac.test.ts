import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { lock } from "../../../worlds/lock.ts";
import { adversary, checkQuestion, type Validate } from "./adversary.ts";
import { checkWords, claimant, claimReader, claims, places, questions, ruleOf, validator } from "./claims.ts";
import { rlac, zeroSum } from "./method.ts";
import { quotedParts } from "./quotes.ts";

obeysTheLaws(() => claims(1), { garbage: 0.01 });

const task: Task = { id: "t", prompt: [{ role: "user", content: "q0" }], metadata: {}, seed: 1 };
const attempt = (id: string, content: string) =>
  trajectoryOf(id, [turnOf([1], [2], { action: { role: "assistant", content } })], { task: "t" });

/** Plays two attempts, a and b, against a critic whose j-th check says `named[j]`. */
async function played(named: string, checks: number, validate: Validate) {
  const vocabulary = ["1 q0 a b first second third", checkQuestion];
  const engine = tabularEngine({ prior: (_context, word) => (word === named ? 50 : 0) });
  const critic = await engine.create({ id: "critic", seed: 1, vocabulary, contextTokens: 64 });
  const counts: Record<string, number> = {};
  const ctx = ctxOf({
    random: randomStream(1),
    model: () => critic,
    task: () => task,
    count: (name, amount) => void (counts[name] = (counts[name] ?? 0) + amount),
  });
  const trajectories = ["a", "b"].map((id) => attempt(id, id));
  const units = trajectories.map(({ id }) => ({ id, group: "t", members: [id] }));
  const rollout = adversary(async () => ({ trajectories, units }), { validate, checks, maxTokens: 1 });
  return { ...(await rollout(ctx)), counts };
}
const rewardsOf = (all: Awaited<ReturnType<typeof played>>) =>
  Object.fromEntries(all.trajectories.map(({ id, turns }) => [id, turns[0]!.rewards]));

test("an attempt survives where none of its checks is violated, and a check is paid the opposite", async () => {
  const all = await played("first", 2, async (_ctx, _task, { id }) => (id === "a" ? "violated" : "passed"));
  assert.deepEqual(rewardsOf(all), {
    a: { survived: 0 },
    b: { survived: 1 },
    "a/check 0": { caught: 1 },
    "a/check 1": { caught: 1 },
    "b/check 0": { caught: 0 },
    "b/check 1": { caught: 0 },
  });
  assert.deepEqual(
    all.units.map(({ id, group }) => [id, group]),
    [
      ["a", "t"],
      ["a/check 0", "a/checks"],
      ["a/check 1", "a/checks"],
      ["b", "t"],
      ["b/check 0", "b/checks"],
      ["b/check 1", "b/checks"],
    ],
  );
  assert.equal(all.counts["verifier.calls"], 4);
  assert.deepEqual([all.stats?.caught, all.stats?.invalid], [0.5, 0]);
});

test("an invalid check wins nothing; checks that failed to be decided leave no unit", async () => {
  const invalid = await played("first", 1, async () => "invalid");
  assert.deepEqual(rewardsOf(invalid).a, { survived: 1 });
  assert.deepEqual(rewardsOf(invalid)["a/check 0"], { caught: 0 });
  assert.equal(invalid.stats?.invalid, 1);
  // one check alone is compared with those of the task's other attempts
  assert.deepEqual(new Set(invalid.units.map(({ group }) => group)), new Set(["t", "t/checks"]));
  const undecided = await played("first", 1, async (_ctx, _task, { id }) =>
    id === "a" ? undefined : "passed",
  );
  assert.deepEqual(
    undecided.units.map(({ id }) => id),
    ["b", "b/check 0"],
  );
});

test("answers are normalised within their task, checks are centred within their group", async () => {
  const all = await played("first", 2, async (_ctx, _task, { id }) => (id === "a" ? "violated" : "passed"));
  // one of a's checks in a hundred is caught: 1 and 0 in one group
  const trajectories = all.trajectories.map((t) =>
    t.id === "a/check 1" ? { ...t, turns: [{ ...t.turns[0]!, rewards: { caught: 0 } }] } : t,
  );
  const feedback = [zeroSum.feedback!].flat();
  const signals = (
    await Promise.all(feedback.map((piece) => piece(ctxOf({}), { ...all, trajectories }, {})))
  ).flat();
  const channels: Record<string, { at: { trajectory: string }; value: number }[]> = {};
  for (const s of signals)
    if (s.kind === "reward") (channels[s.channel] ??= []).push({ at: s.about[0]!, value: s.value });
  const annotated = { ...all, trajectories, notes: {}, signals, channels };
  let soFar: ReadonlyMap<string, Float32Array> | undefined;
  for (const piece of [zeroSum.advantage!].flat()) soFar = piece.apply(annotated, null, soFar).advantages;
  const first = (id: string) => Number(soFar!.get(id)![0]!.toFixed(6));
  assert.deepEqual([first("a"), first("b")], [-1, 1]);
  assert.deepEqual([first("a/check 0"), first("a/check 1"), first("b/check 0")], [0.5, -0.5, 0]);
});

test("a quotation is violated where the environment's critique calls it poor", async () => {
  const marks = [
    { turn: 0, from: 0, to: 2, good: true },
    { turn: 0, from: 3, to: 5, good: false },
  ];
  const critique = async () => ({ text: "", marks });
  const said = (check: string, other = ctxWith({ critique })) =>
    quotedParts(other, task, attempt("a", "s1 s2 s3"), check);
  assert.deepEqual(await Promise.all(["s2", "s1", "s3", "s1 s2", "s9", ""].map((check) => said(check))), [
    "violated",
    "passed",
    "passed",
    "violated",
    "invalid",
    "invalid",
  ]);
  assert.equal(await said("s1", ctxWith({ critique: async () => ({ text: "" }) })), undefined);
});

test("claims: a check decides its place alone, and what is no place is invalid", async () => {
  const world = claims(2);
  const own = world.tasks("train")[0]!;
  const right = world.expert!(own, own.prompt, randomStream(1)).split(" ");
  const wrong = right.map((word, place) => (place === 3 ? (word === "w0" ? "w1" : "w0") : word)).join(" ");
  const verdicts = checkWords.map((check) => validator(2)(ctxOf({}), own, attempt("a", wrong), check));
  assert.deepEqual(
    await Promise.all(verdicts),
    checkWords.map((_, place) => (place === 3 ? "violated" : place < places ? "passed" : "invalid")),
  );
});

test("claims: rules begin to be kept with probabilities from 0.35 to 0.8; a critic that knows a rule names what breaks it", () => {
  for (let q = 0; q < questions; q++) {
    const context = ["<user>", `q${q}`, "<end>", "<assistant>"];
    const logits = Array.from({ length: 6 }, (_, w) => claimant(2)(context, `w${w}`));
    const total = logits.reduce((sum, x) => sum + Math.exp(x), 0);
    const right = Math.exp(logits[Number(ruleOf(2, `q${q}`, 0).slice(1))]!) / total;
    assert.ok(right >= 0.35 && right <= 0.8, `${right}`);
  }
  const rule = ruleOf(2, "q1", 0);
  const asked = (word: string) => [
    "<user>",
    "q1",
    "<end>",
    "<assistant>",
    word,
    "<end>",
    "<user>",
    "?",
    "<end>",
    "<assistant>",
  ];
  assert.equal(claimant(2, 1)(asked(rule), "place0"), 0);
  assert.equal(claimant(2, 1)(asked(rule === "w0" ? "w1" : "w0"), "place0"), 4);
  assert.deepEqual(claimReader(asked("w3")), ["q1 0 w3"]);
});

test("both players learn, in an environment that writes critiques", async () => {
  const method = rlac.build({ tasks: 4, groupSize: 4, optimiser: "sgd", learningRate: 1 });
  const { curve, counters } = await trainInMemory({
    environment: lock({ locks: 4, wheels: 3, settings: 3 }),
    engine: tabularEngine({
      prior: (context, word) =>
        /^s\d$/.test(word) ? 4 : word === "<end>" && /^s/.test(context.at(-1)!) ? 9 : 0,
    }),
    method,
    seed: 1,
    iterations: 3,
  });
  assert.equal(counters["verifier.calls"], 3 * 4 * 4 * 2);
  assert.ok(curve.some((stats) => (stats.caught ?? 0) > 0));
});
