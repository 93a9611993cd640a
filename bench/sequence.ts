/**
 * Memory and time of long episodes: 64 episodes of 200 turns, each of 10 tokens read and 40 written, played, packed into a
 * batch, written as rows of the run store and read back.
 *
 *     node --expose-gc bench/sequence.ts [turns] [episodes]
 */
import { batchOf } from "../src/common/tokens/pack.ts";
import type { Sample } from "../src/core/model.ts";
import { randomStream } from "../src/core/random.ts";
import { actionTokens, type Task, type Trajectory } from "../src/core/types.ts";
import { vocabularyCodec } from "../src/engine/tabular/codec.ts";
import { defineEnvironment } from "../src/env/environment.ts";
import { modelActor } from "../src/rollout/actor.ts";
import { playEpisode } from "../src/rollout/episode.ts";
import { packTrajectory, unpackTrajectory } from "../src/store/turns.ts";

const [turns = 200, episodes = 64] = process.argv.slice(2).map(Number);
const [read, written] = [10, 40];

const words = Array.from({ length: 64 }, (_, i) => `w${i}`);
const codec = vocabularyCodec([words.join(" ")]);
const seen = words.slice(0, read).join(" ");
const task: Task = { id: "t", prompt: [{ role: "user", content: seen }], metadata: {}, seed: 1 };
const environment = defineEnvironment({
  name: "long",
  summary: "",
  abilities: new Set<never>(),
  roles: ["agent"],
  splits: ["train"],
  limits: { turns, actionTokens: written },
  tasks: () => [task],
  start: async () => ({
    observe: async () => ({
      role: "agent",
      observation: { messages: [{ role: "user", content: seen } as const] },
    }),
    act: async () => ({ rewards: { reward: 1 } }),
  }),
});
const random = randomStream(1);
const sample = (): Sample => {
  const action = Int32Array.from({ length: written }, () => 4 + random.below(60));
  const logp = new Float32Array(written).fill(-1);
  return { action, logp, behaviour: logp.slice(), stop: "length", version: "1" };
};
const actor = modelActor({
  id: "policy",
  codec,
  contextTokens: Number.POSITIVE_INFINITY,
  sample: async (requests) => requests.map(sample),
});

const collect = globalThis.gc;
if (!collect) throw new Error("bench/sequence.ts: run it with --expose-gc");
/** Megabytes that are still held after a collection. */
const retained = (): number => {
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 2 ** 20;
};
const row = (what: string, seconds: number, megabytes?: number): void =>
  console.log(
    `${what.padEnd(44)} ${seconds.toFixed(3).padStart(8)} s ${megabytes?.toFixed(1).padStart(8) ?? ""}${megabytes === undefined ? "" : " MB kept"}`,
  );

async function measured<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  const before = retained();
  const began = performance.now();
  const made = await work();
  const seconds = (performance.now() - began) / 1000;
  row(what, seconds, retained() - before);
  return made;
}

async function play(count: number): Promise<Trajectory[]> {
  const played: Trajectory[] = [];
  for (let k = 0; k < count; k++) {
    const parts = { environment, task, id: `e${k}`, actor: () => actor, random: random.split("episode", k) };
    played.push(...(await playEpisode(parts)));
  }
  return played;
}

await play(2);
const tokens = turns * (read + written);
console.log(`${episodes} episodes of ${turns} turns, ${tokens} tokens each (plus markers)`);
const trajectories = await measured("play", () => play(episodes));
const units = trajectories.map(({ id }) => ({ id, group: id, members: [id] }));
const ones = new Map(trajectories.map((t) => [t.id, new Float32Array(actionTokens(t)).fill(1)]));
const { batch, cuts } = await measured("pack into one batch", () => batchOf(trajectories, units, ones));
const rows = await measured("write as rows of the store", () => trajectories.map(packTrajectory));
const back = await measured("read back", () => rows.map(unpackTrajectory));
console.log(`${batch.rows.length} rows, ${cuts} cuts, ${back.length} read back`);
