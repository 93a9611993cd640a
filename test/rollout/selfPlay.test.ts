/** Self-play in real runs: who plays, who learns, and that a run that was stopped goes on to the same weights. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isWhetstoneError } from "../../src/core/errors.ts";
import { paid, type Trajectory } from "../../src/core/types.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import type { TabularModel } from "../../src/engine/tabular/model.ts";
import {
  bandit,
  exploitability,
  gameEnvironment,
  kuhnPoker,
  redTeam,
  rockPaperScissors,
  strategyOf,
} from "../../src/env/index.ts";
import { method } from "../../src/method/method.ts";
import { fictitiousSelfPlay } from "../../src/methods/baseline/fictitious-self-play/method.ts";
import { leagueSelfPlay } from "../../src/methods/baseline/league-self-play/method.ts";
import { magneticSelfPlay } from "../../src/methods/baseline/magnetic-self-play/method.ts";
import { multiTurn } from "../../src/rollout/multiTurn.ts";
import { payoffsOf, wonBy } from "../../src/rollout/payoffs.ts";
import { selfPlay } from "../../src/rollout/selfPlay.ts";
import type { Iteration } from "../../src/train/running.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { plainAscent } from "../../src/train/trainingArm.ts";
import { moveTables } from "../../src/worlds/arms/games.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";
import { temporary } from "../temporary.ts";

const settings = { tasks: 12, groupSize: 4, learningRate: 0.1 };
const kuhn = () => gameEnvironment(kuhnPoker);
const fresh = (environment: ReturnType<typeof kuhn>) => ({
  id: "policy",
  seed: 1,
  vocabulary: environment.vocabulary!(),
  contextTokens: 256,
});

async function iterationsOf(method: ReturnType<typeof leagueSelfPlay.build>): Promise<readonly Iteration[]> {
  const seen: Iteration[] = [];
  await trainInMemory({
    environment: kuhn(),
    method,
    engine: tabularEngine(),
    seed: 1,
    iterations: 6,
    onIteration: (done) => void seen.push(done),
  });
  return seen;
}

test("selfPlay: in a league policy and exploiter learn, each in groups of its own, and earlier selves do not", async () => {
  const seen = await iterationsOf(leagueSelfPlay.build(settings, { past: 0.4, exploited: 0.4, every: 1 }));
  const models = new Set<string>();
  for (const { experience, advantages } of seen) {
    const units = new Map(experience.units.flatMap((u) => u.members.map((id) => [id, u.group] as const)));
    for (const { id, task, role, turns } of experience.trajectories) {
      const model = turns[0]!.model;
      models.add(model.replace(/\d+/, "n"));
      assert.equal(units.get(id), model.startsWith("past.") ? undefined : `${task}/${role}/${model}`);
      assert.equal(advantages.has(id), units.has(id));
    }
    // in all games of a task each role has one model
    const pairings = experience.trajectories.map(({ task, role, turns }) => [
      `${task}/${role}`,
      turns[0]!.model,
    ]);
    for (const [place, model] of pairings)
      assert.equal(new Map(pairings as [string, string][]).get(place!), model);
  }
  assert.deepEqual([...models].sort(), ["exploiter", "past.n", "policy"]);
  assert.ok(seen.some(({ stats }) => (stats["past.won"] ?? -1) >= 0 && (stats["exploiter.won"] ?? -1) >= 0));
});

test("selfPlay: advantages of one role are centred by themselves, however uneven the roles are", async () => {
  const [first] = await iterationsOf(magneticSelfPlay.build(settings));
  for (const group of Map.groupBy(first!.experience.units, (u) => u.group).values()) {
    const sum = group.flatMap((u) => u.members.map((id) => first!.advantages.get(id)![0] ?? 0));
    assert.ok(Math.abs(sum.reduce((a, b) => a + b, 0)) < 1e-5);
  }
});

test("selfPlay: without a pool the policy plays every role, and all that act learn", async () => {
  const alone = method({
    id: "alone",
    family: "test",
    summary: "self-play",
    slots: { rollout: selfPlay({ groupSize: 3 }) },
  });
  const [first] = await iterationsOf(alone.build(settings));
  const { trajectories, units } = first!.experience;
  assert.equal(trajectories.length, units.length);
  assert.ok(trajectories.every(({ turns }) => turns[0]!.model === "policy"));
  assert.equal(new Set(trajectories.map((t) => t.episode)).size, 12 * 3);
});

test("selfPlay: attacker and defender can have models of their own, which both learn", async () => {
  const apart = method({
    id: "apart",
    family: "test",
    summary: "a model for each role",
    models: { defender: { from: "policy" } },
    slots: { rollout: multiTurn({ groupSize: 8, models: { defender: "defender" } }) },
  });
  const environment = gameEnvironment(redTeam);
  const tree = environment.tree();
  const engine = moveTables(environment);
  let paidToAttacker = 0;
  const { policy } = await trainInMemory({
    environment,
    method: apart.build({ ...settings, tasks: 8 }),
    engine,
    seed: 1,
    iterations: 40,
    onIteration: ({ experience, stats }) => {
      for (const { role, turns } of experience.trajectories)
        assert.equal(turns[0]!.model, role === "defender" ? "defender" : "policy");
      assert.ok("policy.gradientNorm" in stats);
      const attacks = experience.trajectories.filter(({ role }) => role === "attacker");
      paidToAttacker = attacks.reduce((sum, t) => sum + paid(t), 0) / attacks.length;
    },
  });
  assert.ok(Number.isFinite(paidToAttacker));
  // the model "policy" has learnt the attacker's moves alone: as a defender it is as it was
  const { strategy } = await strategyOf(tree, policy);
  for (const [set, { role }] of tree.sets.entries()) {
    const start = await strategyOf(tree, await engine.create(fresh(environment)));
    const moved = Math.max(...strategy[set]!.map((p, i) => Math.abs(p - start.strategy[set]![i]!)));
    assert.equal(moved > 1e-3, role === 0, `${moved}`);
  }
});

test("payoffs: who never came to act earned nothing, or what the other lost; won, drawn or lost it has either way", () => {
  const earned = (role: string, outcome: number): Trajectory =>
    trajectoryOf(role, [turnOf([1], [2], { rewards: { outcome } })], { role });
  const [lost, drew] = [earned("first", -3), earned("first", 0)];
  assert.deepEqual(payoffsOf([lost], "second"), [0, -3]);
  assert.deepEqual(payoffsOf([lost], "second", "zero"), [3, -3]);
  assert.deepEqual(payoffsOf([lost], "first", "zero"), [-3, 3]);
  for (const sum of ["zero", "general"] as const) {
    const won = (played: readonly Trajectory[], seat: string) => wonBy(payoffsOf(played, seat, sum));
    assert.deepEqual([won([lost], "second"), won([lost], "first"), won([drew], "second")], [1, 0, 0.5]);
    const all = [lost, earned("second", 1), earned("third", 2)];
    assert.deepEqual([won(all, "third"), won(all, "first")], [1, 0]);
  }
});

test("selfPlay: a game in which one side never acted counts for the pool", async () => {
  const environment = kuhn();
  const stats: Iteration["stats"][] = [];
  // no move is likely: whoever acts first forfeits, and the other never comes to act
  await trainInMemory({
    environment,
    method: fictitiousSelfPlay.build({ ...settings, learningRate: 0 }, { past: 1, every: 1 }),
    engine: tabularEngine({ prior: (_context, word) => (/^(pass|bet)$/.test(word) ? -50 : 0) }),
    seed: 1,
    iterations: 3,
    onIteration: (done) => {
      assert.ok(done.experience.trajectories.every(({ role }) => role === "first"));
      stats.push(done.stats);
    },
  });
  // the policy sits in either role: it loses as first, and wins as second
  assert.ok(stats.every((s) => (s["past.won"] ?? -1) >= 0));
  assert.ok(stats.some((s) => s["past.won"]! > 0 && s["past.won"]! < 1));
});

test("selfPlay: shares of opponents that come to more than 1 are refused, and counted only where there are such opponents", () => {
  assert.throws(() => leagueSelfPlay.build(settings, { past: 0.8, exploited: 0.5 }), {
    code: "option.range",
    message: /past 0\.8 and exploited 0\.5.*exploited can be 0\.2 at most/,
  });
  leagueSelfPlay.build(settings, { past: 0.7, exploited: 0.3 });
  selfPlay({ past: 0.8, exploited: 0.5, pool: { size: 2 } });
});

test("selfPlay: an environment with one role is refused", async () => {
  const asked = trainInMemory({
    environment: bandit(),
    method: fictitiousSelfPlay.build(settings),
    engine: tabularEngine(),
    seed: 1,
    iterations: 1,
  });
  await assert.rejects(asked, (e) => isWhetstoneError(e) && e.code === "capability.missing");
});

test("selfPlay: Kuhn poker is learnt from games alone: uniform play loses 11/24 to a best opponent, the learnt far less", async () => {
  const environment = kuhn();
  const { policy } = await trainInMemory({
    environment,
    method: magneticSelfPlay.build(
      { ...plainAscent, ...settings, groupSize: 8, learningRate: 3 },
      { magnet: 0.2 },
    ),
    engine: moveTables(environment),
    seed: 1,
    iterations: 120,
  });
  const { strategy, legal } = await strategyOf(environment.tree(), policy);
  // 0.085 or less in the runs of bench/self-play.ts
  assert.ok(exploitability(environment.tree(), strategy) < 0.13);
  assert.ok(legal.every((p) => p > 0.999));
});

test("selfPlay: a league that was stopped and goes on has the weights of one that was not", async () => {
  const { train } = await import("../../src/train/run.ts");
  const folder = mkdtempSync(join(temporary, "whetstone-league-"));
  const options = (out: string, iterations: number) => ({
    environment: gameEnvironment(rockPaperScissors()),
    method: leagueSelfPlay.build({ ...settings, schedule: "constant" }, { every: 1 }),
    engine: tabularEngine(),
    iterations,
    seed: 3,
    out: join(folder, out),
    store: join(folder, `${out}.sqlite`),
    checkpointSeconds: 0,
  });
  try {
    const stop = new AbortController();
    await train(
      options("stopped", 6),
      (event) => event.type === "iteration" && event.iteration >= 3 && stop.abort(new Error("stopped")),
      stop.signal,
    ).catch(() => undefined);
    const never = new AbortController().signal;
    await train({ ...options("stopped", 6), resume: true }, () => undefined, never);
    await train(options("whole", 6), () => undefined, never);
    const weights = async (out: string) => {
      const model = (await tabularEngine().open("policy", join(folder, out, "final"))) as TabularModel;
      const { strategy } = await strategyOf(gameEnvironment(rockPaperScissors()).tree(), model);
      return strategy.map((p) => [...p]);
    };
    assert.deepEqual(await weights("stopped"), await weights("whole"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
