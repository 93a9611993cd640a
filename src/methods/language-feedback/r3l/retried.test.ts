import assert from "node:assert/strict";
import { test } from "node:test";
import { critiquing, ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Play } from "../../../core/context.ts";
import type { Critique } from "../../../core/critique.ts";
import { randomStream } from "../../../core/random.ts";
import type { Rollout } from "../../../core/slots.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Player } from "../../../env/environment.ts";
import { scriptActor } from "../../../rollout/actor.ts";
import { retried } from "../../../rollout/critiqueAndRetry.ts";
import { playEpisode } from "../../../rollout/episode.ts";
import { attemptAndCritique, retryWithFeedback } from "../../../rollout/retryWithFeedback.ts";
import { lock, settingsOf } from "../../../worlds/lock.ts";
import { reflectThenRetry } from "./reflectThenRetry.ts";

const environment = lock({ locks: 1, wheels: 3, settings: 2 });
const task = environment.tasks("train")[0]!;
const right = settingsOf(task);
const wrong = right.map((setting) => (setting === "s0" ? "s1" : "s0"));
const vocabulary = [...environment.vocabulary!(), "think again"];
const model = await tabularEngine().create({ id: "policy", seed: 1, vocabulary, contextTokens: 64 });

/** A player that begins with these settings, and does what is right once it has been advised. */
async function attempt(settings: readonly string[], { attempt: number, advice, from }: Play) {
  const player: Player = (_task, conversation) => {
    const wheel = conversation.filter((m) => m.role === "assistant").length;
    const advised = conversation.some((m) => m.content === "think again");
    return (advised ? right : settings)[wheel]!;
  };
  return playEpisode({
    environment,
    task,
    id: `0/${number}`,
    actor: () => scriptActor("policy", player, { codec: model.codec }),
    random: randomStream(1),
    ...(advice === undefined ? {} : { advice }),
    ...(from === undefined ? {} : { from }),
  });
}

/** The first attempt at the lock, and a context in which it can be tried again. */
async function begun(settings: readonly string[]) {
  const [first] = await attempt(settings, { task: task.id, attempt: 0 });
  const plays: Play[] = [];
  const ctx = ctxWith(
    {},
    {
      random: randomStream(1),
      model: () => model,
      play: async (play) => {
        plays.push(play);
        return attempt(settings, play);
      },
    },
  );
  const rollout: Rollout = async () => ({
    trajectories: [first!],
    units: [{ id: first!.id, group: "g", members: [first!.id] }],
  });
  return { first: first!, ctx, plays, rollout };
}

const says = (critique: Critique | undefined) => critiquing(() => critique);
const contents = (t: Trajectory) => t.turns.map(({ action }) => action.content);
const tokens = (t: Trajectory, k: number) => [...t.turns[k]!.tokens!.prompt];

const slipped = [right[0]!, wrong[1]!, wrong[2]!];

test("retried: the turns before the pivot stay, the rest is played with the advice; without it nothing of it is left", async () => {
  const { first, ctx, plays } = await begun(slipped);
  const retry = await retried(ctx, first, { advice: "think again", turn: 1, attempt: 7 });
  const { advised, plain } = retry!;
  assert.deepEqual(contents(advised), right);
  assert.deepEqual(contents(plain), right);
  assert.equal(plays[0]!.attempt, 7);
  assert.deepEqual(advised.lineage, { parent: first.id, turn: 1, why: "retry" });
  assert.deepEqual(plain.lineage, { parent: first.id, turn: 1, why: "rewrite" });
  assert.equal(advised.turns[1]!.prompt.at(-1)!.content, "think again");
  assert.deepEqual(tokens(plain, 1), tokens(first, 1)); // the context of the mistake, as it was
  assert.ok(plain.turns.every(({ prompt }) => prompt.every(({ content }) => content !== "think again")));
  assert.equal(plain.turns[2]!.prompt.length, 5); // wheel 0, its setting, wheel 1, its setting, wheel 2
});

test("retried: from the beginning nothing is replayed, so that any environment will do", async () => {
  const { first, ctx, plays } = await begun(slipped);
  const advice = [
    { role: "user", content: "s0 s1" },
    { role: "user", content: "think again" },
  ] as const;
  const retry = await retried(ctx, first, { advice, turn: 0, attempt: 1 });
  assert.equal(plays[0]!.from, undefined);
  assert.deepEqual(retry!.plain.turns[0]!.prompt, first.turns[0]!.prompt);
  assert.deepEqual(retry!.advised.lineage, { parent: first.id, turn: 0, why: "retry" });
});

test("retried: a pivot beyond the end is the last turn; what fails or never began is no retry", async () => {
  const { first, ctx } = await begun(slipped);
  const late = await retried(ctx, first, { advice: "think again", turn: 9, attempt: 1 });
  assert.deepEqual(contents(late!.advised), [...slipped.slice(0, 2), right[2]]);
  const end = { kind: "failed", boundary: "environment", message: "" } as const;
  const broken = ctxWith(
    {},
    {
      model: () => model,
      play: async () => [trajectoryOf("x", [turnOf([1], [2])], { end })],
    },
  );
  assert.equal(await retried(broken, first, { advice: "think again", turn: 0, attempt: 1 }), undefined);
  const silent = ctxWith({}, { model: () => model, play: async () => [trajectoryOf("x", [])] });
  assert.equal(await retried(silent, first, { advice: "think again", turn: 0, attempt: 1 }), undefined);
});

test("retryWithFeedback: the retry joins its first attempt's group without the feedback, and a group of its own with it", async () => {
  const { first, ctx, rollout } = await begun(slipped);
  const critiquer = says({ text: "think again" });
  const { trajectories, units, stats, critiques } = await retryWithFeedback(rollout, { critiquer })(ctx);
  assert.deepEqual(
    units.map(({ group, members }) => [members[0], group]),
    [
      [first.id, "g"],
      ["0/1/agent/plain", "g"],
      ["0/1/agent", "g/advised"],
    ],
  );
  assert.ok(trajectories.slice(1).every(succeeded));
  assert.deepEqual(stats, { retries: 1, repaired: 1 });
  assert.deepEqual([...critiques!], [[first.id, { text: "think again" }]]);
  const kept = async (keep: "advised" | "plain") =>
    (await retryWithFeedback(rollout, { critiquer, keep })(ctx)).units.slice(1).map((u) => u.group);
  assert.deepEqual(await kept("plain"), ["g"]);
  assert.deepEqual(await kept("advised"), ["g/advised"]);
  const apart = await retryWithFeedback(rollout, { critiquer, apart: true })(ctx);
  assert.deepEqual(
    apart.units.map((u) => u.group),
    ["g", "g/plain", "g/advised"],
  );
});

test("retryWithFeedback: successes, and attempts that nobody could criticise, are not tried again", async () => {
  for (const [settings, critique] of [
    [right, { text: "think again" }],
    [slipped, undefined],
  ] as const) {
    const { ctx, rollout, plays } = await begun(settings);
    const { units, stats } = await retryWithFeedback(rollout, { critiquer: says(critique) })(ctx);
    assert.deepEqual([units.length, plays.length, stats], [1, 0, { retries: 0 }]);
  }
});

test("reflectThenRetry: from the pivot on; an improvement counts with its advice and its reflection as well", async () => {
  const { first, ctx, rollout } = await begun(slipped);
  const written = trajectoryOf("reflection", [turnOf([1], [2])]);
  const critiquer = says({ text: "think again", outcome: "failure", turn: 1, written });
  const { trajectories, units, critiques, stats } = await reflectThenRetry(rollout, { critiquer })(ctx);
  assert.equal(critiques!.get(first.id)!.turn, 1);
  assert.deepEqual(
    units.map(({ members, group }) => [members[0], group]),
    [
      [first.id, "g"],
      ["0/1/agent/plain", "g"],
      ["0/1/agent", "0/1/agent"],
      ["reflection", "reflection"],
    ],
  );
  assert.deepEqual(trajectories.at(-1)!.turns[0]!.rewards, { reflection: 1 });
  assert.deepEqual(stats, { retries: 1, improved: 1, pivot: 1 });
  const explored = await reflectThenRetry(rollout, { critiquer, positives: false })(ctx);
  assert.equal(explored.units.length, 2);
});

test("reflectThenRetry: advice at the wrong place helps nobody, and is not learnt from", async () => {
  const { ctx, rollout } = await begun(slipped);
  const critiquer = says({ text: "think again", outcome: "failure", turn: 2 });
  const { units, stats } = await reflectThenRetry(rollout, { critiquer })(ctx);
  assert.equal(units.length, 2);
  assert.deepEqual(stats, { retries: 1, improved: 0, pivot: 2 });
});

test("reflectThenRetry: what is called a success is not tried again, and the word for it counts if it is true", async () => {
  const written = trajectoryOf("reflection", [turnOf([1], [2])]);
  for (const [settings, units] of [
    [right, 2],
    [slipped, 1],
  ] as const) {
    const { ctx, rollout, plays } = await begun(settings);
    const critiquer = says({ text: "", outcome: "success", written });
    const made = await reflectThenRetry(rollout, { critiquer })(ctx);
    assert.deepEqual([made.units.length, plays.length], [units, 0]);
  }
});

test("attemptAndCritique shows the attempt's actions and what was said of them", () => {
  const first = trajectoryOf(
    "first",
    ["s0", "s1"].map((content) => turnOf([1], [2], { action: { role: "assistant", content } })),
  );
  assert.equal(attemptAndCritique({ text: "think again" }, first), "your attempt :\ns0\ns1\nthink again");
});
