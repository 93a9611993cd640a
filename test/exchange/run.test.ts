/** Trajectories of a run in the forms of other tools. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Signal } from "../../src/core/signal.ts";
import { type Message, paid, type Trajectory, type Turn } from "../../src/core/types.ts";
import { importFile } from "../../src/exchange/import/importFile.ts";
import { jsonLine } from "../../src/exchange/jsonLine.ts";
import { logged } from "../../src/exchange/logged.ts";
import { exportRun, type TrajectoryForm, trajectoryForms } from "../../src/exchange/run/exportRun.ts";
import { hfRow } from "../../src/exchange/run/messages.ts";
import { minariEpisode } from "../../src/exchange/run/minari.ts";
import { verifiersEpisode, verifiersTrace } from "../../src/exchange/run/verifiers.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import type { StoredTrajectory } from "../../src/store/runStore.ts";
import { openRunStore } from "../../src/store/runStore.ts";
import { folder, runIn, settings, withCode } from "../train/world.ts";

const user = (content: string): Message => ({ role: "user", content });
const assistant = (content: string): Message => ({ role: "assistant", content });

function turn(
  prompt: readonly Message[],
  action: Message,
  [read, said]: readonly [readonly number[], readonly number[]],
  rewards: Turn["rewards"],
): Turn {
  const logp = Float32Array.from(said, (_, i) => -(i + 1) / 4);
  const tokens = { prompt: Int32Array.from(read), action: Int32Array.from(said), logp, behaviour: logp };
  return {
    role: "agent",
    model: "policy",
    version: "3",
    prompt,
    action,
    tokens,
    spans: {},
    stop: "eos",
    rewards,
    ms: 0,
  };
}

function stored(turns: readonly Turn[], end: Trajectory["end"], advantage?: Float32Array): StoredTrajectory {
  const about = { id: "t", task: "task", episode: "e", role: "agent", origin: "sampled" } as const;
  const kept = { run: "r", iteration: 2, phase: "train", turns: turns.length, end: end.kind, kept: "" };
  return { ...about, ...kept, trajectory: { ...about, turns, end }, ...(advantage && { advantage }) };
}

// the second turn goes on from the first, the third begins anew
const first = turn(
  [user("a")],
  assistant("b"),
  [
    [1, 2],
    [3, 4],
  ],
  { right: 0.5 },
);
const second = turn([user("a"), assistant("b"), user("c")], assistant("d"), [[1, 2, 3, 4, 5], [6]], {
  right: 1,
  style: -1,
});
const third = turn([user("short")], assistant("e"), [[7], [8]], {});
const whole = stored(
  [first, second, third],
  { kind: "done", reason: "said", success: true },
  Float32Array.of(1, 2, 3, 4),
);

test("verifiers: each message once, paths that are what was read and written, rewards by name", () => {
  const trace = verifiersTrace(whole);
  assert.deepEqual(
    trace.nodes.map(({ parent, message, sampled }) => [parent, message.content, sampled]),
    [
      [null, "a", false],
      [0, "b", true],
      [1, "c", false],
      [2, "d", true],
      [null, "short", false],
      [4, "e", true],
    ],
  );
  const path = [0, 1, 2, 3].flatMap((n) => trace.nodes[n]!.token_ids ?? []);
  assert.deepEqual(path, [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(trace.nodes[1]!.mask, [false, false, true, true]);
  assert.deepEqual(trace.nodes[1]!.logprobs, [-0.25, -0.5]);
  assert.deepEqual(trace.nodes[3]!.advantages, [3]);
  assert.deepEqual(trace.rewards, { right: { score: 1.5, weight: 1 }, style: { score: -1, weight: 1 } });
  assert.deepEqual([trace.ok, trace.stop_condition], [true, "said"]);
  const failed = verifiersTrace(stored([first], { kind: "failed", boundary: "tool", message: "gone" }));
  assert.deepEqual([failed.ok, failed.errors], [false, [{ type: "tool", message: "gone" }]]);
});

test("verifiers: what was paid for which reply is kept", () => {
  const { info } = verifiersTrace(whole);
  assert.deepEqual(info.rewards_by_node, { 1: { right: 0.5 }, 3: { right: 1, style: -1 } });
});

test("verifiers: a tool that is offered later is known to the trace", () => {
  const look = { name: "look", description: "looks", parameters: {} };
  const later = { ...second, prompt: [user("a"), assistant("b"), { ...user("c"), tools: [look] }] };
  const trace = verifiersTrace(stored([first, later, later], { kind: "done", reason: "" }));
  assert.deepEqual(trace.tools, [look]);
});

test("verifiers: an episode has a trace for each agent, and names that no other run's have", () => {
  const white = stored([first], { kind: "done", reason: "mate" });
  const black = {
    ...white,
    trajectory: {
      ...white.trajectory,
      id: "u",
      role: "black",
      end: { kind: "failed", boundary: "tool", message: "" },
    },
  } as const;
  const episode = verifiersEpisode([white, black]);
  assert.deepEqual(
    episode.traces.map(({ id, agent, ok }) => [id, agent.name, ok]),
    [
      ["r/t", "agent", true],
      ["r/u", "black", false],
    ],
  );
  assert.deepEqual([episode.id, episode.ok], ["r/train/2/e", false]);
});

test("verifiers: without tokens, a reply that stands otherwise in the next prompt is not what was said", () => {
  const { tokens: _, ...bare } = first;
  const went = (reply: string): Turn => ({ ...bare, prompt: [user("a"), assistant(reply), user("c")] });
  const parents = (next: Turn) =>
    verifiersTrace(stored([bare, next], { kind: "done", reason: "" })).nodes.map(({ parent }) => parent);
  assert.deepEqual(parents(went("b")), [null, 0, 1, 2]);
  assert.deepEqual(parents(went("shortened")), [null, 0, null, 2, 3, 4]);
});

test("verifiers: forced tokens are not sampled ones", () => {
  const forced = { ...first, tokens: { ...first.tokens!, forced: Uint8Array.of(1, 0) } };
  const [, node] = verifiersTrace(
    stored([forced], { kind: "done", reason: "" }, Float32Array.of(9, 2)),
  ).nodes;
  assert.deepEqual(
    [node!.mask, node!.logprobs, node!.advantages],
    [[false, false, false, true], [-0.5], [2]],
  );
});

test("minari: T actions between T + 1 observations; an end and a cut are told apart", () => {
  const episode = minariEpisode(whole);
  assert.deepEqual(episode.observations, ["a", "c", "short", ""]);
  assert.deepEqual(episode.actions, ["b", "d", "e"]);
  assert.deepEqual(episode.rewards, [0.5, 0, 0]);
  assert.deepEqual(episode.terminations, [false, false, true]);
  // what Minari takes: numbers of its own, T + 1 infos of one type, options that are flat
  assert.equal(episode.id, null);
  assert.deepEqual(episode.infos, { rewards: ["{}", '{"right":0.5}', '{"right":1,"style":-1}', "{}"] });
  assert.deepEqual(episode.options, {
    id: "r/t",
    run: "r",
    iteration: 2,
    phase: "train",
    task: "task",
    episode: "e",
    role: "agent",
    end: "done",
    reason: "said",
    success: true,
  });
  // a prompt that is longer, and begins otherwise, is all new
  const anew = { ...second, prompt: [user("x"), assistant("b"), user("c")] };
  assert.deepEqual(minariEpisode(stored([first, anew], { kind: "done", reason: "" })).observations, [
    "a",
    "x\nb\nc",
    "",
  ]);
  const cut = minariEpisode(stored([first], { kind: "truncated", limit: "turns", at: 1 }));
  assert.deepEqual([cut.terminations, cut.truncations], [[false], [true]]);
});

test("messages: the conversation as it ended, with what it was worth", () => {
  const row = hfRow(stored([first, second], { kind: "done", reason: "said", success: true }));
  assert.deepEqual(
    row.messages.map(({ content }) => content),
    ["a", "b", "c", "d"],
  );
  assert.deepEqual([row.reward, row.success, row.id, row.role], [0.5, true, "r/t", "agent"]);
});

test("lines: half a character and the separators of Unicode end no reader", () => {
  const text = "a\ud800b 😀 \u2028\u2029 \\ud800 \\\udc00";
  const line = jsonLine({ text });
  assert.equal(line.split(/[\n\u2028\u2029]/).length, 2);
  assert.equal(JSON.parse(line).text, "a\ufffdb 😀 \u2028\u2029 \\ud800 \\\ufffd");
});

test("an episode in which nobody acted is nothing for Minari and chat templates", async () => {
  const none = { ...stored([], { kind: "failed", boundary: "environment", message: "down" }), turns: 0 };
  const rows = (to: TrajectoryForm) => trajectoryForms[to]([none]).length;
  assert.deepEqual([rows("minari"), rows("messages"), rows("verifiers")], [0, 0, 1]);
});

test("a run's trajectories go to a new file, a line each", async () => {
  const root = folder();
  await runIn(root, { ...settings("tabular"), iterations: 1 });
  const store = await openRunStore(join(root, "whetstone.sqlite"));
  try {
    const [run] = await store.runs();
    const out = join(root, "traces.jsonl");
    const options = { to: "verifiers", filter: { phase: "train" } } as const;
    assert.equal(await exportRun(store, run!.id, out, options), 12);
    const lines = readFileSync(out, "utf8").trim().split("\n");
    assert.equal(new Set(lines.map((line) => JSON.parse(line).id)).size, 12);
    await assert.rejects(exportRun(store, run!.id, out, options), withCode("run.exists"));
    assert.ok(!existsSync(`${out}.partial`));
  } finally {
    await store.close();
  }
});

test("a run that goes out and comes in again has its conversations, and what each of them was paid", async () => {
  const root = folder();
  await runIn(root, { ...settings("tabular"), iterations: 1 });
  const store = await openRunStore(join(root, "whetstone.sqlite"));
  try {
    const [run] = await store.runs();
    const played = await Promise.all(
      (await store.trajectories(run!.id)).map(({ iteration, phase, id }) =>
        store.trajectory(run!.id, { iteration, phase, id }),
      ),
    );
    const spoken = played.map((stored) => stored!.trajectory);
    for (const [to, from] of [
      ["verifiers", "verifiers"],
      ["minari", "minari"],
      ["messages", "trl"],
    ] as const) {
      const out = join(root, `${to}.jsonl`);
      assert.equal(await exportRun(store, run!.id, out, { to }), played.length);
      const back = await openTrafficStore(":memory:");
      await importFile(back, out, { from, now: 1_800_000_000_000 });
      const all = await Array.fromAsync(logged(back));
      await back.close();
      const words = (turns: readonly Turn[]) => turns.flatMap(({ action }) => action.content).join(" ");
      const paidFor = (of: readonly Signal[]) =>
        of.reduce((sum, signal) => sum + (signal.kind === "reward" ? signal.value : Number.NaN), 0);
      assert.deepEqual(
        all.map(({ trajectory, signals }) => `${words(trajectory.turns)} ${paidFor(signals)}`).sort(),
        spoken.map((trajectory) => `${words(trajectory.turns)} ${paid(trajectory)}`).sort(),
        to,
      );
    }
  } finally {
    await store.close();
  }
});
