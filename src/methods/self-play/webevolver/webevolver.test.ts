import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Helper } from "../../../core/context.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { uniform } from "../../../data/uniform.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { imagining, withQueries } from "./imagining.ts";
import { isThere, linkReader, linkSpeaker, siteOfLinks, stopsHere } from "./links.ts";
import { lookAhead } from "./lookAhead.ts";
import { webevolver } from "./method.ts";
import { transitionModel, transitionsOf } from "./transitionModel.ts";

obeysTheLaws(() => siteOfLinks(1), { garbage: 0.1 });

const turn = (seen: string, content: string) =>
  turnOf([1], [2], {
    prompt: [{ role: "user", content: seen }],
    action: { role: "assistant", content },
  });

test("transitionsOf: what was seen, done and seen next, of failures too; the last action has no answer", () => {
  const lost = trajectoryOf("t", [turn("at p1", " l2 "), turn("at p4", "l0"), turn("at p1", "stop")], {
    end: { kind: "done", reason: "stopped", success: false },
  });
  assert.deepEqual(transitionsOf([lost]), [
    { x: { state: "at p1", action: "l2" }, y: "at p4", weight: 1 },
    { x: { state: "at p4", action: "l0" }, y: "at p1", weight: 1 },
  ]);
});

test("transitionModel: the most frequent observation, of equals the first, over all fits; nothing where nothing is known", async () => {
  const model = transitionModel();
  const x = { state: "at p1", action: "l2" };
  const fit = (...seen: string[]) => model.fit(seen.map((y) => ({ x, y, weight: 1 })));
  const predicted = async () => (await model.predict([x]))[0];
  assert.equal(await predicted(), undefined);
  await fit("at p4", "at p5");
  assert.equal(await predicted(), "at p4");
  await fit("at p5");
  assert.equal(await predicted(), "at p5");
  const again = transitionModel();
  again.load(JSON.parse(JSON.stringify(model.save())));
  assert.deepEqual(await again.predict([x, { ...x, action: "l3" }]), ["at p5", undefined]);
  assert.throws(() => again.load(["other"]), { code: "checkpoint.damaged" });
});

const task = (id: string, page: string): Task => ({
  id,
  prompt: ["find p9", `at ${page}`].map((content) => ({ role: "user", content })),
  metadata: {},
  seed: 1,
});

/** Imagines an episode of a policy that goes l0, l0, stop, in a world that knows these transitions. */
async function imagined(known: Readonly<Record<string, string>>, turns = 7) {
  const world: Helper<{ state: string; action: string }, string, string | undefined> = {
    fit: async () => ({}),
    predict: async (xs) => xs.map(({ state, action }) => known[`${state} ${action}`]),
  };
  const engine = tabularEngine({
    prior: (context, word) => {
      const done = context.filter((said) => said === "<assistant>").length;
      return word === (done < 3 ? "l0" : "stop") ? 50 : 0;
    },
  });
  const vocabulary = ["find at stop l0 p1 p2 p3 p9"];
  const model = await engine.create({ id: "policy", seed: 1, vocabulary, contextTokens: 64 });
  const counts: Record<string, number> = {};
  const ctx = ctxOf({
    random: randomStream(1),
    tasks: [task("real", "p1"), { ...task("query", "p1"), metadata: { imagined: true } }],
    model: () => model,
    helper: () => world as never,
    count: (name, amount) => void (counts[name] = (counts[name] ?? 0) + amount),
  });
  const played: string[] = [];
  const rollout = imagining(
    async ({ tasks }) => {
      played.push(...tasks.map(({ id }) => id));
      return { trajectories: [trajectoryOf("r", [turn("at p1", "stop")])], units: [] };
    },
    { stops: stopsHere, actionTokens: 1, turns },
  );
  return { ...(await rollout(ctx)), played, counts };
}

test("queries are imagined and not played; the world model answers until the policy stops", async () => {
  const { trajectories, units, stats, played } = await imagined({ "at p1 l0": "at p2", "at p2 l0": "at p3" });
  assert.deepEqual(played, ["real"]);
  const [, dream] = trajectories;
  assert.deepEqual([dream?.task, dream?.origin, stats?.imagined], ["query", "imagined", 1]);
  assert.deepEqual(
    dream?.turns.map(({ prompt, action }) => [prompt.at(-1)?.content, action.content]),
    [
      ["at p1", "l0"],
      ["at p2", "l0"],
      ["at p3", "stop"],
    ],
  );
  assert.deepEqual(units, [
    { id: "query/imagined 0", group: "query/imagined", members: ["query/imagined 0"] },
  ]);
  // each prompt continues the one before: two messages more, the reply's end and the marks of both
  const lengths = dream!.turns.map(({ tokens }) => tokens!.prompt.length);
  assert.ok(lengths[0]! < lengths[1]! && lengths[1]! < lengths[2]!, lengths.join());
});

test("an imagined episode that the model cannot answer, or that does not stop, is dropped", async () => {
  const lost = await imagined({ "at p1 l0": "at p2" });
  assert.deepEqual(
    [lost.trajectories.length, lost.stats?.imagined, lost.counts["tokens.discarded"]],
    [1, 0, 2],
  );
  const long = await imagined({ "at p1 l0": "at p1" }, 2);
  assert.deepEqual([long.trajectories.length, long.counts["tokens.discarded"]], [1, 2]);
});

test("withQueries: beside the chosen tasks, each once and marked; those that are chosen anyway are none", async () => {
  const tasks = [task("a", "p1"), task("b", "p2")];
  const data = withQueries(uniform({ tasks: 2 }), () => [task("c", "p3"), task("c", "p3"), task("a", "p1")]);
  const chosen = await data.choose(ctxOf({ random: randomStream(1) }), tasks, data.init(tasks));
  assert.deepEqual(chosen.tasks.map(({ id, metadata }) => [id, metadata.imagined]).toSorted(), [
    ["a", undefined],
    ["b", undefined],
    ["c", true],
  ]);
});

test("lookAhead: the candidate with the best branch, the first of equals; what is unknown ends a branch", () => {
  const next = (state: number, action: string) => (action === "unknown" ? undefined : state + Number(action));
  const chosen = (candidates: readonly string[], depth: number) =>
    lookAhead(0, {
      candidates: () => candidates,
      act: () => "1",
      next,
      judge: (branch, stopped) => (stopped ? 0 : branch.at(-1) === 3 ? 1 : 0),
      stops: (action) => action === "stop",
      depth,
    });
  // two steps: 2 and then the policy's own 1 make 3
  assert.equal(chosen(["1", "2", "3"], 2), "2");
  assert.equal(chosen(["1", "2", "3"], 1), "3");
  assert.equal(chosen(["stop", "unknown", "5"], 2), "stop");
});

test("a judge sees where an attempt stopped, imagined or not", () => {
  const own = task("t", "p1");
  const at = (page: string, action: string) => trajectoryOf("t", [turn(`at ${page}`, action)]);
  assert.deepEqual(
    [at("p9", "stop"), at("p9", "l0"), at("p1", "stop"), trajectoryOf("t", [])].map((t) => isThere(own, t)),
    [true, false, false, false],
  );
});

test("the method imagines as many episodes as it plays, and both are judged", async () => {
  const origins: string[] = [];
  const { counters } = await trainInMemory({
    environment: siteOfLinks(1),
    engine: tabularEngine({ prior: linkSpeaker, features: linkReader }),
    method: webevolver.build({ tasks: 4, groupSize: 4, optimiser: "sgd", learningRate: 1 }),
    seed: 1,
    iterations: 3,
    onIteration: ({ experience }) =>
      void origins.push(...experience.trajectories.map(({ origin }) => origin)),
  });
  const dreams = origins.filter((origin) => origin === "imagined").length;
  assert.ok(dreams > 0 && dreams <= 48, `${dreams}`);
  assert.equal(counters["judge.calls"], 48 + dreams);
});
