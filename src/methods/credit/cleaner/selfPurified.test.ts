import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Play } from "../../../core/context.ts";
import { randomStream } from "../../../core/random.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { cleaner } from "./method.ts";
import { planAndCall, syntaxOf } from "./planAndCall.ts";
import { type SelfPurifiedOptions, selfPurified } from "./selfPurified.ts";

const vocabulary = ["p q <tool_call> a b c d"];
const model = await tabularEngine().create({ id: "policy", seed: 1, vocabulary, contextTokens: 64 });
const { codec } = model;

/** An action; one that failed was commented on. */
const said = (text: string, comment?: string) =>
  turnOf([1], [...codec.encode(text)], {
    action: { role: "assistant", content: text },
    ...(comment === undefined ? {} : { text: comment }),
  });
const bad = (text: string) => said(text, "malformed");

/** Cleans one trajectory; a replay goes on with what `then` says. */
async function clean(
  turns: Trajectory["turns"],
  options: SelfPurifiedOptions = {},
  then: Trajectory["turns"] = [],
) {
  const raw = trajectoryOf("raw", turns);
  const replays: Play[] = [];
  let discarded = 0;
  const ctx = ctxOf({
    random: randomStream(1),
    model: () => model,
    count: (name, n) => {
      if (name === "tokens.discarded") discarded += n;
    },
    play: async (play) => {
      replays.push(play);
      const { trajectory, turn } = play.from!;
      const all = [...trajectory.turns.slice(0, turn), ...then.slice(replays.length - 1)];
      return [trajectoryOf(`clean${replays.length}`, all)];
    },
  });
  const rollout: Rollout = async () => ({
    trajectories: [raw],
    units: [{ id: "unit", group: "g", members: ["raw"] }],
  });
  const { trajectories, units, stats } = await selfPurified(rollout, options)(ctx);
  const t = trajectories[0]!;
  return { t, texts: t.turns.map((x) => x.action.content), units, stats, replays, discarded };
}

test("a corrected call that is much alike keeps the reasoning of the failed action", async () => {
  // calls a b and a c share one token of two each: 2 · 1 / 4 = ½
  const { t, texts, units, stats, discarded } = await clean([
    bad("p <tool_call> a b"),
    said("q <tool_call> a c"),
  ]);
  assert.deepEqual(texts, ["p <tool_call> a c"]);
  assert.deepEqual(units[0]!.members, ["clean1"]);
  assert.deepEqual([stats, discarded], [{ repairs: 1 }, 4]);
  const { tokens, text, rewards } = t.turns[0]!;
  assert.deepEqual([...tokens!.action], [...codec.encode("p <tool_call> a c")]);
  assert.deepEqual([text, rewards], [undefined, {}]);
  // its rows are rewritten ones, whose unknown log-probabilities are no gap between sampler and trainer
  assert.deepEqual(t.lineage, { parent: "raw", turn: 0, why: "rewrite" });
  // what was sampled in the clean context is known, what was sampled after the error is not
  assert.deepEqual([...tokens!.behaviour], [-0.1, -0.2].map(Math.fround).concat([Number.NaN, Number.NaN]));
});

test("one that differs brings its own reasoning, as does one without a call", async () => {
  const different = await clean([bad("p <tool_call> a b"), said("q <tool_call> c d")]);
  assert.deepEqual(different.texts, ["q <tool_call> c d"]);
  assert.ok(different.t.turns[0]!.tokens!.behaviour.every(Number.isNaN));
  assert.deepEqual((await clean([bad("p a b"), said("q <tool_call> a b")])).texts, ["q <tool_call> a b"]);
  const always = await clean([bad("p <tool_call> a b"), said("q <tool_call> c d")], { similarity: 0 });
  assert.deepEqual(always.texts, ["p <tool_call> c d"]);
  const never = await clean([bad("p <tool_call> a b"), said("q <tool_call> a b")], { similarity: 1.1 });
  assert.deepEqual(never.texts, ["q <tool_call> a b"]);
});

test("failures in a row are corrected one after the other, later ones in the episode that goes on", async () => {
  const chain = [bad("p <tool_call> a b"), bad("q <tool_call> a c"), said("q <tool_call> d c")];
  // (p, a c) first; then a c against d c is alike as well
  assert.deepEqual((await clean(chain)).texts, ["p <tool_call> d c"]);
  const later = await clean([said("p"), ...chain, said("q")], {}, [bad("p <tool_call> a"), said("q")]);
  // replayed from the start, goes on with a failure of its own, which is corrected in turn
  assert.deepEqual(later.texts, ["p", "p <tool_call> d c", "q", "q"]);
  assert.deepEqual(
    later.replays.map((r) => r.from!.turn),
    [2, 3],
  );
  assert.equal(new Set(later.replays.map((r) => r.attempt)).size, 2);
});

test("what ends in failure, fails too often or is not chosen stays as it is", async () => {
  const two = [bad("p"), bad("q"), said("p")];
  for (const kept of [
    await clean([said("p"), bad("q")]),
    await clean(two, { retries: 1 }),
    await clean(two, { share: 0 }),
    await clean(two, { failed: () => false }),
  ]) {
    assert.deepEqual([kept.t.id, kept.replays.length, kept.discarded], ["raw", 0, 0]);
  }
});

test("cleaner trains: corrected calls end the episode as they did, in one turn", async () => {
  const environment = planAndCall();
  const [first, second] = syntaxOf(environment.tasks("train")[0]!);
  const { curve } = await trainInMemory({
    environment,
    method: cleaner.build({ tasks: 4, groupSize: 8, learningRate: 0.3 }),
    engine: tabularEngine({
      context: "message",
      // every reply is a call, and every second one of its words is well-formed
      prior: (context, word) => {
        const place = context.length - 1 - context.indexOf("<assistant>");
        const fits = [/^plan/, /^<tool_call>$/, /^op/, /^w/, /^w/][place]?.test(word);
        return fits ? (place < 3 || [first, second][place - 3]!.includes(word) ? 1 : 0) : -1e9;
      },
    }),
    seed: 1,
    iterations: 3,
    onIteration: ({ experience }) => {
      for (const t of experience.trajectories) {
        const last = t.turns.at(-1)!;
        assert.ok(t.turns.length === 1 || last.text === "malformed");
        if (last.rewards.outcome === 1) assert.equal(t.turns.length, 1);
      }
    },
  });
  assert.ok(curve[0]!.repairs! > 0.2 && Number.isFinite(curve[2]!["clippedRatio.loss"]));
  assert.equal(curve[0]!["clippedRatio.unknown"], 0);
});
