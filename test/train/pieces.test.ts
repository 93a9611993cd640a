/** The parts around the loop, one by one. */
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Ctx } from "../../src/core/context.ts";
import { evaluatorIn } from "../../src/core/evaluator.ts";
import { toExactJson } from "../../src/core/json.ts";
import type { Model, SampleRequest } from "../../src/core/model.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Task, Trajectory } from "../../src/core/types.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import type { Environment } from "../../src/env/environment.ts";
import { scriptedCritiquer } from "../../src/evaluator/scripted.ts";
import { findCheckpoint, saveCheckpoint } from "../../src/train/checkpoint.ts";
import { makeContext } from "../../src/train/context.ts";
import { evaluate } from "../../src/train/evaluate.ts";
import { openJournal } from "../../src/train/journal.ts";
import { limitConcurrency } from "../../src/train/limit.ts";
import { freshState, stateSchema } from "../../src/train/state.ts";
import { hasConverged } from "../../src/train/warmStart.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";
import { echo, folder, runIn, settings, watched, withCode } from "./world.ts";

const request = { id: "policy", seed: 1, vocabulary: ["red green blue"], contextTokens: 32 };
const limit = limitConcurrency(4);
const random = randomStream(1);

/** As a class whose methods need their own object. */
class Wrapped {
  readonly inner: Model;
  constructor(inner: Model) {
    this.inner = inner;
  }
  get id() {
    return this.inner.id;
  }
  get codec() {
    return this.inner.codec;
  }
  get contextTokens() {
    return this.inner.contextTokens;
  }
  sample(requests: readonly SampleRequest[]) {
    return this.inner.sample(requests);
  }
}

test("evaluate: the flawed player's share with its Wilson interval, failed episodes left out", async () => {
  // tasks 0, 1, 2 ask for red second: the player, which always says red second, knows them; 3, 4, 5 want green
  const asked = { agent: echo().flawed!, split: "test", mode: "sampled", tasks: 6, random, limit } as const;
  const { result, trajectories } = await evaluate({ environment: echo(), ...asked });
  // p = 0.5, n = 6, z = 1.96: centre 0.5, half width 1.96 sqrt(0.25/6 + 3.8416/144) / (1 + 3.8416/6) = 0.3123
  assert.equal(result.success.mean, 0.5);
  assert.ok(Math.abs(result.success.low - 0.1876) < 1e-3 && Math.abs(result.success.high - 0.8124) < 1e-3);
  assert.deepEqual([result.reward, result.turns, result.tasks, result.failed], [1.5, 2, 6, 0]);
  assert.equal(trajectories.length, 6);

  const fails = watched(echo(), (task) => {
    if (/[0-2]$/.test(task.id)) throw new Error("away");
  });
  const some = (await evaluate({ environment: fails, ...asked })).result;
  assert.deepEqual([some.success.mean, some.success.n, some.failed, some.tasks], [0, 3, 3, 6]);
  const none = (
    await evaluate({ environment: watched(echo(), () => Promise.reject(new Error("away"))), ...asked })
  ).result;
  assert.deepEqual(
    [none.success.mean, none.success.n, none.reward, none.failed],
    [Number.NaN, 0, Number.NaN, 6],
  );
});

test("evaluate and play: a model's methods keep their object", async () => {
  const model = new Wrapped(await tabularEngine().create(request)) as unknown as Model;
  const { result } = await evaluate({
    environment: echo(),
    agent: model,
    split: "test",
    mode: "greedy",
    tasks: 6,
    random,
    limit,
  });
  assert.equal(result.failed, 0);
  const environment = echo();
  const ctx = makeContext(
    {
      environment,
      tasks: new Map(environment.tasks("train").map((t) => [t.id, t])),
      state: freshState("train"),
      iterations: 1,
      random,
      limit,
      stop: new AbortController().signal,
      models: new Map([["policy", model]]),
      frozen: new Map(),
      helpers: new Map(),
    },
    [],
  );
  const [played] = await ctx.play({ task: "echo/train/0", attempt: 0 });
  assert.equal(played!.turns.length, 2);
  // a task made on the way can be verified by its id afterwards
  const made = { ...environment.tasks("train")[0]!, id: "made" };
  const [own] = await ctx.play({ task: made, attempt: 0 });
  assert.equal(ctx.task("made"), made);
  assert.deepEqual(await evaluatorIn(ctx, ctx.environment).score(own!, random), {});
  assert.throws(() => ctx.task("other"), withCode("capability.missing", /as an object, not by its id/));
});

test("the environment compares; one that fails is silence, none at all an error", async () => {
  const engine = tabularEngine();
  const model = await engine.create(request);
  const t = trajectoryOf("t", [], { task: "echo/train/0" });
  const { ctx, state } = playing(echo({ prefer: async () => 0.75 }), model);
  const compare = (of: Ctx) => evaluatorIn(of, of.environment).compare(t, t, random);
  assert.equal(await compare(ctx), 0.75);
  const fails = playing(echo({ prefer: () => Promise.reject(new Error("away")) }), model);
  assert.equal(await compare(fails.ctx), undefined);
  assert.deepEqual(
    [state.counters, fails.state.counters],
    [{ "judge.calls": 1 }, { "judge.calls": 1, "judge.failures": 1 }],
  );
  await assert.rejects(compare(playing(echo(), model).ctx), withCode("capability.missing", /compares/));
});

test("the environment criticises, right or misleading; one that fails is silence, none at all an error", async () => {
  const model = await tabularEngine().create(request);
  const t = trajectoryOf("t", [turnOf([1], [2])], { task: "echo/train/0" });
  const critique = (of: Ctx) => evaluatorIn(of, scriptedCritiquer({ accuracy: 0 })).critique(t, random);
  const { ctx, state } = playing(
    echo({ critique: async (_t, _u, { right }) => ({ text: `${right}` }) }),
    model,
  );
  assert.deepEqual(await critique(ctx), { text: "false" });
  const fails = playing(echo({ critique: () => Promise.reject(new Error("away")) }), model);
  assert.equal(await critique(fails.ctx), undefined);
  assert.deepEqual(
    [state.counters, fails.state.counters],
    [{ "judge.calls": 1 }, { "judge.calls": 1, "judge.failures": 1 }],
  );
  await assert.rejects(critique(playing(echo(), model).ctx), withCode("capability.missing", /criticises/));
});

function playing(environment: Environment, model: Model, training: readonly Task[] = []) {
  const state = freshState("train");
  const tasks = new Map(environment.tasks("train").map((t) => [t.id, t]));
  const models = new Map([["policy", model]]);
  const stop = new AbortController().signal;
  const further = { models, frozen: new Map(), helpers: new Map() };
  const parts = { environment, tasks, state, iterations: 1, random, limit, stop, ...further };
  return { ctx: makeContext(parts, training), state };
}

test("play: a task that the data slot made is found by its id", async () => {
  const made = { ...echo().tasks("train")[0]!, id: "made" };
  const { ctx } = playing(echo(), await tabularEngine().create(request), [made]);
  assert.equal(ctx.task("made"), made);
  const [played] = await ctx.play({ task: "made", attempt: 0 });
  assert.deepEqual([played!.task, played!.turns.length], ["made", 2]);
});

test("play: an episode is played once an iteration, whatever the advice", async () => {
  const { ctx, state } = playing(echo(), await tabularEngine().create(request));
  const of = { task: "echo/train/0", attempt: 0 };
  const [first, second] = await Promise.allSettled([ctx.play(of), ctx.play({ ...of, advice: "red" })]);
  assert.equal(first.status, "fulfilled");
  assert.ok(second.status === "rejected");
  assert.throws(
    () => {
      throw second.reason;
    },
    withCode("option.range", /its own attempt/),
  );
  await ctx.play({ ...of, attempt: 1, advice: "red" });
  assert.equal(state.counters.episodes, 2);
});

test("play from a turn: needs an environment that replays, and counts no replayed turn as sampled", async () => {
  const model = await tabularEngine().create(request);
  const task = "echo/train/0";
  const plain = playing(echo(), model).ctx;
  const [first] = await plain.play({ task, attempt: 0 });
  const from = { trajectory: first!, turn: 1, why: "retry" } as const;
  await assert.rejects(
    plain.play({ task, attempt: 1, from }),
    withCode("capability.missing", /ability replay/),
  );
  const { ctx, state } = playing(echo({ abilities: new Set(["replay"] as const) }), model);
  const [second] = await ctx.play({ task, attempt: 1, from });
  assert.deepEqual(second!.turns[0]!.tokens, first!.turns[0]!.tokens);
  assert.deepEqual(state.counters, {
    episodes: 1,
    turns: 2,
    "environment.steps": 2,
    generations: 1,
    "tokens.sampled": second!.turns[1]!.tokens!.action.length,
  });
});

test("a verifier that fails gives no scores and is counted", async () => {
  const state = freshState("train");
  const environment = echo({ verify: () => Promise.reject(new Error("garbage")) });
  const ctx = makeContext(
    {
      environment,
      tasks: new Map(environment.tasks("train").map((t) => [t.id, t])),
      state,
      iterations: 1,
      random,
      limit,
      stop: new AbortController().signal,
      models: new Map(),
      frozen: new Map(),
      helpers: new Map(),
    },
    [],
  );
  const t = trajectoryOf("t", [], { task: "echo/train/0" });
  assert.equal(await evaluatorIn(ctx, ctx.environment).score(t, random), undefined);
  assert.deepEqual(state.counters, { "verifier.calls": 1, "judge.failures": 1 });
});

test("hasConverged: no real fall within the last measurements", () => {
  const rule = { patience: 2, tolerance: 0.01 };
  assert.equal(hasConverged([], rule), false);
  assert.equal(hasConverged([1, 0.999], rule), false);
  assert.equal(hasConverged([1, 0.999, 0.998], rule), true);
  assert.equal(hasConverged([1, 0.999, 0.98], rule), false);
  assert.equal(hasConverged([1, 2, 0.98, 0.981, 0.979], rule), true);
  assert.equal(hasConverged([1, 0.5, 1, 1], rule), true);
});

test("limitConcurrency: in order, never more than it says, failures give their place back", async () => {
  const limited = limitConcurrency(2);
  const began: number[] = [];
  let running = 0;
  let most = 0;
  const works = Array.from({ length: 7 }, (_, i) =>
    limited(async () => {
      began.push(i);
      most = Math.max(most, ++running);
      await new Promise((go) => setTimeout(go, (i % 3) * 2));
      running--;
      if (i === 1) throw new Error("one");
      return i;
    }),
  );
  const ended = await Promise.allSettled(works);
  assert.deepEqual(began, [0, 1, 2, 3, 4, 5, 6]);
  assert.equal(most, 2);
  assert.deepEqual(
    ended.map((e) => e.status === "rejected"),
    [false, true, false, false, false, false, false],
  );
  assert.throws(() => limitConcurrency(0), withCode("option.range", /at least 1/));
});

test("checkpoints: numbered, two are kept, leftovers of a crash do no harm", async () => {
  const out = folder();
  const model = await tabularEngine().create(request);
  const weighted = { models: new Map([["policy", model]]), frozen: new Map() };
  assert.equal(await findCheckpoint(out), undefined);
  for (let iteration = 1; iteration <= 4; iteration++) {
    mkdirSync(join(out, "checkpoints", `0000000${iteration}.partial`, "models"), { recursive: true });
    await saveCheckpoint(out, { ...freshState("train"), iteration }, weighted);
  }
  assert.deepEqual(readdirSync(join(out, "checkpoints")), ["00000003", "00000004"]);
  assert.equal((await findCheckpoint(out))!.state.iteration, 4);
});

test("the state is read back as it was, whatever numbers are in it", async () => {
  const out = folder();
  const state = {
    ...freshState("train"),
    memory: { list: [Number.NaN, -0, Number.POSITIVE_INFINITY, "text", null, { deep: 0.1 }] },
    data: { uniform: { epoch: 3 } },
    warm: { update: 2, losses: [Number.NaN, 0.5], drops: 1 },
  };
  await saveCheckpoint(out, state, { models: new Map(), frozen: new Map() });
  assert.deepEqual((await findCheckpoint(out))!.state, state);
  assert.equal(stateSchema.safeParse({ ...state, iteration: -1 }).success, false);
  assert.equal(stateSchema.safeParse({ ...state, phase: "other" }).success, false);
  const file = join(out, "checkpoints", "00000001", "state.json");
  writeFileSync(file, "{}");
  await assert.rejects(findCheckpoint(out), withCode("checkpoint.damaged", /Delete .*00000001/));
});

const episode = (id: string): Trajectory[] => {
  const turn = turnOf([1, 2], [3, 4, 5], { rewards: { odd: Number.NaN, minus: -0 } });
  const tokens = {
    ...turn.tokens!,
    logp: Float32Array.of(-0.1, Number.NaN, Number.NEGATIVE_INFINITY),
    entropy: Float32Array.of(1, 2, 3),
    allowed: [Int32Array.of(3), Int32Array.of(4, 5), Int32Array.of()],
    forced: Uint8Array.of(0, 1, 0),
  };
  return [trajectoryOf(`${id}/agent`, [{ ...turn, tokens, text: 'quotes " and\nlines \u2028 and €' }])];
};

test("the journal gives back what it was given, bit for bit, and forgets what lies behind a checkpoint", async () => {
  const file = join(folder(), "journal.jsonl");
  const journal = await openJournal(file, 0);
  await Promise.all(["a", "b", "c"].map((id, i) => journal.add(i, id, episode(id))));
  await journal.close();
  await journal.add(3, "late", episode("late"));
  const again = await openJournal(file, 1);
  assert.equal(again.find("a"), undefined);
  assert.deepEqual(again.find("b"), episode("b"));
  assert.ok(again.find("c")![0]!.turns[0]!.tokens!.forced instanceof Uint8Array);
  assert.equal(again.find("late"), undefined);
  const both = readFileSync(file, "utf8");
  assert.equal(
    both.split("\n").length,
    4,
    "three lines: those of earlier iterations go with the next checkpoint",
  );
  await again.forget(2);
  assert.equal(
    readFileSync(file, "utf8"),
    `${both.split("\n")[2]}\n`,
    "a resumed run may be behind its journal",
  );
  assert.deepEqual(again.find("c"), episode("c"));
  await again.forget(3);
  assert.equal(readFileSync(file, "utf8"), "");
  assert.equal((await openJournal(file, 0)).find("b"), undefined);
});

test("the journal: what follows a damaged line, or was cut off, is played again", async () => {
  const file = join(folder(), "journal.jsonl");
  const journal = await openJournal(file, 0);
  await journal.add(0, "a", episode("a"));
  const whole = readFileSync(file, "utf8");
  for (const damage of [
    whole.slice(0, 50),
    `${whole.slice(0, 50)}\n${whole}`,
    "\n",
    "[]\n",
    "\u0000\u0000\n",
  ]) {
    writeFileSync(file, whole);
    appendFileSync(file, damage);
    const opened = await openJournal(file, 0);
    assert.deepEqual(opened.find("a"), episode("a"));
    assert.equal(readFileSync(file, "utf8"), whole);
    await opened.add(0, "b", episode("b"));
    assert.ok((await openJournal(file, 0)).find("b"));
  }
});

test("the journal: lines as they were first written, each turn with its whole prompt, are read", async () => {
  const file = join(folder(), "journal.jsonl");
  const old = { iteration: 0, episode: "a", trajectories: episode("a") };
  writeFileSync(file, `${toExactJson(old)}\n`);
  assert.deepEqual((await openJournal(file, 0)).find("a"), episode("a"));
});

test("the journal: one that cannot be read is an error, not an empty one", async () => {
  const file = join(folder(), "journal.jsonl");
  mkdirSync(file);
  await assert.rejects(openJournal(file, 0), withCode("checkpoint.damaged", /a readable file/));
});

test("a warm start without a validation split, or with a player that cannot play", async () => {
  const { splits: _, ...rest } = echo();
  const bare = {
    ...rest,
    splits: ["train", "test"],
    tasks: (s: string) => {
      assert.notEqual(s, "validation");
      return echo().tasks(s);
    },
  };
  const { events } = await runIn(folder(), { ...settings("tabular"), environment: bare });
  const measured = events.flatMap((e) =>
    e.type === "warmstart" && e.validation !== undefined ? [e.validation] : [],
  );
  assert.ok(measured.length > 0 && measured.every(Number.isFinite));

  const mute = echo({
    flawed: () => {
      throw new Error("no idea");
    },
  });
  await assert.rejects(
    runIn(folder(), { ...settings("tabular"), environment: mute }),
    withCode("environment.broken", /no idea/),
  );
});
