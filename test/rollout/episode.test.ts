import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryRows } from "../../src/common/tokens/pack.ts";
import { rewritten } from "../../src/common/tokens/rewrite.ts";
import type { Advise, Seen } from "../../src/core/context.ts";
import type { SampleRequest } from "../../src/core/model.ts";
import { randomStream } from "../../src/core/random.ts";
import { actionTokens, type Message, type Task } from "../../src/core/types.ts";
import { vocabularyCodec } from "../../src/engine/tabular/codec.ts";
import { tabularModel } from "../../src/engine/tabular/model.ts";
import { newWeights } from "../../src/engine/tabular/weights.ts";
import type { Environment, Episode, Step } from "../../src/env/environment.ts";
import { type Actor, type ModelActorParts, modelActor, scriptActor } from "../../src/rollout/actor.ts";
import { type EpisodeOptions, playEpisode } from "../../src/rollout/episode.ts";
import { multiTurn } from "../../src/rollout/multiTurn.ts";
import { packTrajectory, unpackTrajectory } from "../../src/store/turns.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

const codec = vocabularyCodec(["left right again try", "hint"]);
const task: Task = { id: "t", prompt: [{ role: "user", content: "try" }], metadata: {}, seed: 1 };
const model = tabularModel("policy", newWeights(codec, Number.POSITIVE_INFINITY), 64);
const parts: ModelActorParts = {
  id: "policy",
  codec,
  contextTokens: 64,
  sample: (requests) => model.sample(requests),
};

/** Three actions; each is answered by "again"; "left" pays 1. */
function world(
  more: Partial<Environment> = {},
  episode: Partial<Episode> = {},
): Environment & { closed: number } {
  const environment = {
    closed: 0,
    name: "world",
    summary: "",
    abilities: new Set<never>(),
    roles: ["agent"],
    splits: ["train"],
    limits: { turns: 5, actionTokens: 3 },
    tasks: () => [task],
    start: async (): Promise<Episode> => {
      let done = 0;
      return {
        observe: async () => ({
          role: "agent",
          observation: {
            messages: done > 0 ? [{ role: "user", content: "again" }] : [],
            stateKey: `s${done}`,
          },
        }),
        act: async (action): Promise<Step> => {
          done++;
          const rewards = { paid: action.content.startsWith("left") ? 1 : 0 };
          return done < 3 ? { rewards } : { rewards, end: { kind: "done", reason: "three", success: true } };
        },
        close: async () => {
          environment.closed++;
        },
        ...episode,
      };
    },
    ...more,
  };
  return environment;
}

const play = (environment: Environment, more: Partial<EpisodeOptions> = {}) =>
  playEpisode({
    environment,
    task,
    id: "0/t/0",
    actor: () => modelActor(parts),
    random: randomStream(3),
    ...more,
  });

test("playEpisode: one sequence that only grows, exact tokens, rewards, state keys, deterministic ids", async () => {
  const environment = world();
  const [t] = await play(environment);
  assert.equal(t!.id, "0/t/0/agent");
  assert.deepEqual(t!.end, { kind: "done", reason: "three", success: true });
  assert.equal(t!.turns.length, 3);
  const { rows, cuts } = trajectoryRows(
    t!,
    { id: "u", group: "g", members: [] },
    new Float32Array(actionTokens(t!)),
  );
  assert.deepEqual([rows.length, cuts], [1, 0]);
  assert.deepEqual(
    t!.turns.map((turn) => turn.stateKey),
    ["s0", "s1", "s2"],
  );
  const last = t!.turns[2]!;
  assert.deepEqual(
    last.prompt.map((m) => m.role),
    ["user", "assistant", "user", "assistant", "user"],
  );
  assert.equal(last.action.content, codec.decode(last.tokens!.action));
  assert.equal(environment.closed, 1);
  const again = await play(world());
  const timeless = (x: unknown): string => JSON.stringify(x, (k, v) => (k === "ms" ? 0 : v));
  assert.equal(timeless(again), timeless([t]));
});

test("playEpisode: what the environment throws is a failed ending, also a hanging one; turns so far are kept", async () => {
  const broken = world({}, { act: () => Promise.reject(new Error("pipe burst")) });
  const [t] = await play(broken);
  assert.deepEqual(t!.end, { kind: "failed", boundary: "environment", message: "act() threw: pipe burst" });
  assert.equal(t!.turns.length, 1);
  const hanging = world(
    { limits: { turns: 5, actionTokens: 3, seconds: 0.02 } },
    { observe: () => new Promise(() => {}) },
  );
  const [h] = await play(hanging);
  assert.ok(h!.end.kind === "failed" && /longer than 0.02 s/.test(h!.end.message));
  assert.equal(h!.role, "agent");
  const sync = world({
    start: () => {
      throw new Error("no start");
    },
  });
  assert.equal((await play(sync))[0]!.end.kind, "failed");
});

test("playEpisode: an episode that begins after it was given up is closed", async () => {
  const there = world();
  let begin = (): void => undefined;
  const held = new Promise<void>((go) => (begin = go));
  const environment: Environment = {
    ...there,
    limits: { ...there.limits, seconds: 0.02 },
    start: (one, random) => held.then(() => there.start(one, random)),
  };
  const [t] = await play(environment);
  assert.ok(t!.end.kind === "failed");
  assert.equal(there.closed, 0);
  begin();
  await new Promise((go) => setImmediate(go));
  assert.equal(there.closed, 1);
});

test("playEpisode: what a model throws is thrown on, and the episode is closed", async () => {
  const environment = world();
  const bad = modelActor({ ...parts, sample: () => Promise.reject(new Error("out of memory")) });
  await assert.rejects(play(environment, { actor: () => bad }), /out of memory/);
  assert.equal(environment.closed, 1);
});

test("playEpisode: limits on turns, action tokens and context", async () => {
  const [turns] = await play(world({ limits: { turns: 2, actionTokens: 3 } }));
  assert.deepEqual(turns!.end, { kind: "truncated", limit: "turns", at: 2 });
  const asked: SampleRequest[] = [];
  const small = modelActor({
    ...parts,
    contextTokens: 6,
    sample: (requests) => {
      asked.push(...requests);
      return model.sample(requests);
    },
  });
  const [tokens] = await play(world(), { actor: () => small });
  assert.equal(asked[0]!.maxTokens, Math.min(3, 6 - asked[0]!.prompt.length));
  assert.ok(tokens!.end.kind === "truncated" && tokens!.end.limit === "tokens");
});

test("playEpisode: advice may be messages, in any role, between what was seen and the first action", async () => {
  const advice: readonly Message[] = [
    { role: "assistant", content: "left" },
    { role: "user", content: "hint" },
  ];
  const [t] = await play(world(), { advice });
  assert.deepEqual(t!.turns[0]!.prompt, [...task.prompt, ...advice]);
  assert.deepEqual(t!.turns[0]!.tokens!.prompt, codec.open([...task.prompt, ...advice]));
});

test("playEpisode: advice for each turn knows what is seen there, and is a part of the prompts acted on", async () => {
  const seen: Seen[] = [];
  const advise: Advise = (here) => {
    seen.push(here);
    return here.turn === 1 ? [{ role: "user", content: "hint" }] : [];
  };
  const [t] = await play(world(), { advise });
  assert.deepEqual(
    seen.map(({ role, turn }) => [role, turn]),
    t!.turns.map((_, turn) => ["agent", turn]),
  );
  assert.deepEqual(seen[0]!.messages.slice(0, task.prompt.length), task.prompt);
  const [first, second] = t!.turns;
  assert.deepEqual(second!.prompt, [
    ...first!.prompt,
    first!.action,
    ...seen[1]!.messages,
    { role: "user", content: "hint" },
  ]);
  const from = { trajectory: t!, turn: 1, why: "branch" } as const;
  const again = seen.length;
  await play(world(), { advise, from, id: "0/t/1" });
  assert.equal(seen[again]!.turn, 1, "a replayed turn is not advised again");
});

test("playEpisode: a retry replays recorded tokens, hears the advice, and says where it came from", async () => {
  const [first] = await play(world());
  const from = { trajectory: first!, turn: 2, why: "retry" } as const;
  const [second] = await play(world(), { from, advice: "hint", random: randomStream(4), id: "0/t/1" });
  assert.deepEqual(second!.lineage, { parent: first!.id, turn: 2, why: "retry" });
  assert.deepEqual(
    second!.turns.slice(0, 2).map((t) => t.tokens),
    first!.turns.slice(0, 2).map((t) => t.tokens),
  );
  assert.deepEqual(second!.turns[2]!.prompt.at(-1), { role: "user", content: "hint" });
  const { cuts } = trajectoryRows(
    second!,
    { id: "u", group: "g", members: [] },
    new Float32Array(actionTokens(second!)),
  );
  assert.equal(cuts, 0);

  const plain = rewritten(second!, "plain", codec, (ms: readonly Message[]) =>
    ms.filter((m) => m.content !== "hint"),
  );
  assert.deepEqual(plain.turns[2]!.tokens!.prompt, first!.turns[2]!.tokens!.prompt);
  assert.deepEqual(plain.turns[2]!.tokens!.action, second!.turns[2]!.tokens!.action);
  assert.ok(plain.turns[2]!.tokens!.behaviour.every(Number.isNaN));
});

test("playEpisode: a scripted player makes a demonstration with tokens and unknown log-probabilities", async () => {
  const actors = (): Actor => scriptActor("expert", () => "left", { codec });
  const [t] = await play(world(), { actor: actors });
  assert.equal(t!.origin, "demonstrated");
  assert.deepEqual(
    t!.turns.map((turn) => turn.rewards.paid),
    [1, 1, 1],
  );
  assert.deepEqual([...t!.turns[0]!.tokens!.action], [...codec.encode("left"), codec.endId]);
  assert.ok(t!.turns[0]!.tokens!.logp.every(Number.isNaN));
  const { cuts } = trajectoryRows(
    t!,
    { id: "u", group: "g", members: [] },
    new Float32Array(actionTokens(t!)),
  );
  assert.equal(cuts, 0);
});

test("playEpisode: turns share one token sequence and the messages of one conversation, also when read back from a store", async () => {
  const [t] = await play(world());
  const last = t!.turns[2]!;
  for (const { turns } of [t!, unpackTrajectory(packTrajectory(t!))]) {
    const { tokens, prompt } = turns[2]!;
    assert.deepEqual([tokens, prompt], [last.tokens, last.prompt]);
    assert.equal(tokens!.prompt.buffer.byteLength, 4 * (tokens!.prompt.length + tokens!.action.length));
    for (const turn of turns) {
      assert.equal(turn.tokens!.prompt.buffer, tokens!.prompt.buffer);
      assert.equal(turn.tokens!.action.buffer, tokens!.prompt.buffer);
      for (const [i, message] of turn.prompt.entries()) assert.equal(message, prompt[i]);
    }
  }
});

test("playEpisode: a whole conversation that repeats the last one and adds to it continues its sequence", async () => {
  const whole: Message[] = [{ role: "user", content: "try" }];
  const [t] = await play(
    world(
      {},
      {
        observe: async () => ({
          role: "agent",
          observation: { messages: structuredClone(whole), whole: true },
        }),
        act: async ({ content }) => {
          whole.push({ role: "assistant", content }, { role: "user", content: "again" });
          return whole.length < 7 ? {} : { end: { kind: "done", reason: "three" } };
        },
      },
    ),
    { actor: () => scriptActor("expert", () => "left", { codec }) },
  );
  assert.equal(t!.turns.length, 3);
  assert.deepEqual(t!.turns[2]!.prompt, whole.slice(0, 5));
  const [first, , third] = t!.turns;
  assert.equal(third!.prompt[0], first!.prompt[0]);
  assert.deepEqual([...third!.tokens!.prompt], [...codec.open(whole.slice(0, 5))]);
  assert.equal(third!.tokens!.prompt.buffer, first!.tokens!.prompt.buffer);
});

test("playEpisode: any object that acts is an actor; tokens that it made by itself are kept, and cut where they begin anew", async () => {
  const made = [
    { prompt: Int32Array.of(1, 2), action: Int32Array.of(3) },
    { prompt: Int32Array.of(1, 2, 3, 4), action: Int32Array.of(5) },
    { prompt: Int32Array.of(4), action: Int32Array.of(6) },
  ].map((tokens) => ({ ...tokens, logp: Float32Array.of(-1), behaviour: Float32Array.of(-2) }));
  let next = 0;
  const own: Actor = {
    id: "own",
    origin: "sampled",
    act: async ({ messages, promptTokens }) => {
      promptTokens(codec); // asked for, and not used
      const action = { role: "assistant", content: `after ${messages.length}` } as const;
      return { version: "v", action, stop: "eos", tokens: made[next++]! };
    },
  };
  const [t] = await play(
    world({}, { observe: async () => ({ role: "agent", observation: { messages: [] } }) }),
    {
      actor: () => own,
    },
  );
  assert.deepEqual(
    t!.turns.map(({ tokens }) => tokens),
    made,
  );
  assert.deepEqual(
    t!.turns.map(({ model, version, action }) => [model, version, action.content]),
    [1, 2, 3].map((turn) => ["own", "v", `after ${turn}`]),
  );
  const unit = { id: "u", group: "g", members: [] };
  assert.equal(trajectoryRows(t!, unit, new Float32Array(3)).cuts, 1);
});

test("playEpisode: two roles, each with its own conversation, one trajectory each", async () => {
  let moves = 0;
  const two = world(
    { roles: ["white", "black"] },
    {
      observe: async () => ({
        role: moves % 2 === 0 ? "white" : "black",
        observation: { messages: moves > 1 ? [{ role: "user", content: "again" }] : [] },
      }),
      act: async () => (++moves < 4 ? {} : { end: { kind: "done", reason: "over" } }),
    },
  );
  const played = await play(two);
  assert.deepEqual(
    played.map((t) => [t.id, t.turns.length]),
    [
      ["0/t/0/white", 2],
      ["0/t/0/black", 2],
    ],
  );
  assert.deepEqual(
    played[0]!.turns[1]!.prompt.map((m) => m.role),
    ["user", "assistant", "user"],
  );
});

test("playEpisode: a constrained model says nothing but what is legal, also where one text begins another", async () => {
  const legal = ["left", "left again"];
  const observe = async () => ({ role: "agent", observation: { messages: [], legal } });
  const said = new Set<string>();
  for (let seed = 0; seed < 20; seed++) {
    const [t] = await play(world({}, { observe }), { constrained: true, random: randomStream(seed) });
    for (const { action, tokens, stop } of t!.turns) {
      said.add(action.content);
      assert.equal(stop, "eos");
      assert.equal(tokens!.allowed!.length, tokens!.action.length);
    }
  }
  assert.deepEqual([...said].sort(), legal);
  // where nothing is listed, nothing is narrowed
  const [free] = await play(world(), { constrained: true });
  assert.ok(free!.turns.every((turn) => turn.tokens?.allowed === undefined));
});

test("multiTurn: every attempt of every task at once; failures stay out of the units", async () => {
  const asked: number[] = [];
  const ctx = ctxOf({
    tasks: [task],
    play: async ({ attempt, constrained }) => {
      assert.equal(constrained, true);
      asked.push(attempt);
      const end = { kind: "failed", boundary: "environment", message: "" } as const;
      return [trajectoryOf(`${attempt}`, [turnOf([1], [2])], attempt === 1 ? { end } : {})];
    },
  });
  const { trajectories, units } = await multiTurn({ groupSize: 3, constrained: true })(ctx);
  assert.deepEqual(asked, [0, 1, 2]);
  assert.equal(trajectories.length, 3);
  assert.deepEqual(
    units.map((u) => u.id),
    ["0", "2"],
  );
});

test("multiTurn: a role is in one group per task, also where the other role did not get to act", async () => {
  const [alone, first, second] = ["alone", "first", "second"].map((id) => ({ ...task, id }));
  const ctx = ctxOf({
    tasks: [alone!, first!, second!],
    play: async ({ task: named, attempt }) => {
      const of = { task: String(named) };
      const own = trajectoryOf(`${named}/${attempt}/a`, [turnOf([1], [2])], { ...of, role: "a" });
      const other = { ...of, role: "b" };
      if (named === "alone") return [own];
      if (named === "first" && attempt === 1) return [own];
      if (named === "second") return [own, trajectoryOf(`${named}/${attempt}/b`, [], other)];
      return [own, trajectoryOf(`${named}/${attempt}/b`, [turnOf([1], [2])], other)];
    },
  });
  const { units } = await multiTurn({ groupSize: 2 })(ctx);
  assert.deepEqual(
    units.map((u) => u.group),
    ["alone", "alone", "first/a", "first/b", "first/a", "second", "second"],
  );
});

test("playEpisode: an observation may be a whole conversation, with limits of its own; one that cannot be asked fails", async () => {
  const asked: SampleRequest[] = [];
  const seen: unknown[] = [];
  const listening = modelActor({
    ...parts,
    sample: (requests) => {
      asked.push(...requests);
      return model.sample(requests);
    },
  });
  const saying = (content: string) =>
    world(
      {},
      {
        observe: async () => ({
          role: "agent",
          observation: { messages: [{ role: "user", content }], whole: true, maxTokens: 2, stop: ["right"] },
        }),
        act: async ({ sampled }): Promise<Step> => {
          seen.push([sampled?.tokens.action.length, sampled?.pieces().length]);
          return seen.length < 2 ? {} : { end: { kind: "done", reason: "two" } };
        },
      },
    );
  const [t] = await play(saying("hint"), { actor: () => listening });
  assert.deepEqual(
    t!.turns.map(({ prompt }) => prompt),
    [[{ role: "user", content: "hint" }], [{ role: "user", content: "hint" }]],
  );
  assert.deepEqual(
    asked.map(({ maxTokens, stop, prompt }) => [maxTokens, stop, prompt]),
    asked.map(() => [2, ["right"], codec.open([{ role: "user", content: "hint" }])]),
  );
  assert.deepEqual(
    seen,
    t!.turns.map(({ tokens }) => [tokens!.action.length, tokens!.action.length]),
  );
  const [strange] = await play(saying("zebra"));
  assert.ok(strange!.end.kind === "failed" && /zebra/.test(strange!.end.message));
});
