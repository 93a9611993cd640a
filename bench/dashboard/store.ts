/** A store as large as the dashboard promises to show well: written in seconds, the same each time. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomStream } from "../../src/core/random.ts";
import type { ServedResponse } from "../../src/core/served.ts";
import type { Message, Trajectory, Turn } from "../../src/core/types.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { openRunStore } from "../../src/store/runStore.ts";
import { openDatabase } from "../../src/store/sqlite.ts";

export interface Size {
  readonly runs: number;
  /** Iterations of the longest run, and of each other one. */
  readonly iterations: number;
  readonly others: number;
  /** Tokens of the longest episode. */
  readonly tokens: number;
  /** Characters of the longest line that an episode reads. */
  readonly line: number;
  /** Messages of the longest session. */
  readonly messages: number;
}

export interface Made {
  readonly file: string;
  readonly runs: number;
  readonly long: string;
  /** Ids of an episode of many tokens, and of one that reads a long line, in the first iteration of the long run. */
  readonly tokens: string;
  readonly line: string;
  /** Ids of a session of many replies, and of one with a single long prompt. */
  readonly talk: string;
  readonly prompt: string;
}

/** Words of the tokenizer that the long run carries. */
const words = Array.from({ length: 2000 }, (_, i) => `word${i}`);
const metrics = ["success", "reward", "turns", "entropy", "clippedRatio.kl", "clippedRatio.clipFraction"];
const more = ["gradientNorm", "logpGap", "tokensPerSecond", "truncated", "failed", "groups", "deadGroups"];
const times = ["seconds.rollout", "seconds.update", "seconds.credit"];

/** One value of the long run that no thinning may lose: its iteration is none that is sampled. */
export const spike = { name: "gradientNorm", iteration: 31_417, value: 20 };

/** @param folder that is there and empty. */
export async function dashboardStore(folder: string, size: Size): Promise<Made> {
  const file = join(folder, "whetstone.sqlite");
  const random = randomStream("dashboard");
  const long = { id: "long", folder: join(folder, "long") };
  tokenizerInto(long.folder);
  const store = await openRunStore(file);
  const made = {
    file,
    runs: size.runs,
    long: long.id,
    tokens: "tokens",
    line: "line",
    talk: "talk",
    prompt: "prompt",
  };
  const config = { learningRate: 3e-4, groupSize: 8, settings: words.slice(0, 100) };
  for (let i = 0; i < size.runs; i++) {
    const method = ["grpo", "rloo", "igpo", "reinforce"][i % 4]!;
    const one = i === size.runs - 1 ? long : { id: `facts-${method}-${i}`, folder: join(folder, `${i}`) };
    await store.startRun({ ...one, name: one.id, env: "facts", method, engine: "local", seed: i, config });
    if (one !== long) await store.finishRun(one.id, "done");
  }
  await store.saveIteration(long.id, 0, {
    metrics: {},
    trajectories: [
      {
        trajectory: ofTokens(made.tokens, size.tokens, random),
        advantage: numbers(size.tokens),
        phase: "train",
      },
      { trajectory: ofLine(made.line, size.line), phase: "train" },
    ],
  });
  await store.close();
  await talkInto(made, size.messages);

  const database = openDatabase(file);
  const insert = database.prepare("insert into metrics (run, iteration, name, value) values (?, ?, ?, ?)");
  const curves = (run: string, iterations: number, names: readonly string[]): void => {
    for (let k = 0; k < iterations; k++) {
      const share = Math.min(1, Math.max(0, 1 - Math.exp((-3 * k) / iterations) + 0.05 * random.normal()));
      for (const name of names) {
        const jumps = name === spike.name && k === spike.iteration;
        insert.run(run, BigInt(k), name, jumps ? spike.value : share);
      }
    }
  };
  const ids = database.prepare("select id from runs").all();
  database.exec("begin");
  for (const { id } of ids) {
    if (id === long.id) curves(long.id, size.iterations, [...metrics, ...more, ...times]);
    else curves(String(id), size.others, metrics);
  }
  database.exec("commit");
  database.close();
  return made;
}

/** Two sessions of as many messages: conversations of fifty turns, one after another, and a single call. */
async function talkInto({ file, talk, prompt }: Made, messages: number): Promise<void> {
  const production = await openTrafficStore(file);
  const said = (i: number): Message => ({
    role: i % 2 === 0 ? "user" : "assistant",
    content: `message ${i} of a long conversation`,
  });
  const common = {
    origin: "gateway",
    ms: 5,
    version: "v1",
    propensity: 1,
    model: "m",
    settings: {},
    status: "complete",
    channels: [],
    tags: {},
  } as const;
  const turns = 50;
  for (let from = 0; from < messages; from += 2 * turns) {
    const all = Array.from({ length: 2 * turns }, (_, i) => said(from + i));
    const responses = all.slice(0, turns).map(
      (_, turn): ServedResponse => ({
        ...common,
        id: `r${from + turn}`,
        session: talk,
        trajectory: `${talk}/${from}`,
        turn,
        at: from + turn,
        prompt: all.slice(0, 2 * turn + 1),
        choices: [{ message: all[2 * turn + 1]!, stop: "eos" }],
      }),
    );
    await production.write(responses.map((response) => ({ kind: "response", response })));
  }
  const long = Array.from({ length: messages }, (_, i) => said(i));
  const choices = [{ message: said(1), stop: "eos" as const }];
  const one = { ...common, id: "one", session: prompt, trajectory: `${prompt}/0`, turn: 0, at: 0 };
  await production.write([{ kind: "response", response: { ...one, prompt: long, choices } }]);
  await production.close();
}

const numbers = (n: number): Float32Array => Float32Array.from({ length: n }, (_, i) => Math.sin(i / 50));

const turn = (more: Partial<Turn>): Turn => ({
  role: "agent",
  model: "policy",
  version: "v1",
  prompt: [{ role: "user", content: "Write at length." }],
  action: { role: "assistant", content: "Well." },
  spans: {},
  stop: "eos",
  rewards: { outcome: 1 },
  ms: 10,
  ...more,
});

const played = (id: string, only: Turn): Trajectory => ({
  id,
  task: id,
  episode: id,
  role: "agent",
  turns: [only],
  end: { kind: "done", reason: "answered", success: true },
  origin: "sampled",
});

function ofTokens(id: string, count: number, random: { below(n: number): number }): Trajectory {
  const action = Int32Array.from({ length: count }, () => random.below(words.length));
  const logp = Float32Array.from(action, (word) => -word / 500);
  const tokens = { prompt: Int32Array.of(0), action, logp, behaviour: logp, entropy: logp.map((x) => -x) };
  const content = Array.from(action, (word) => words[word]).join(" ");
  return played(id, turn({ action: { role: "assistant", content }, tokens }));
}

const ofLine = (id: string, characters: number): Trajectory =>
  played(id, turn({ prompt: [{ role: "tool", content: "x".repeat(characters) }] }));

function tokenizerInto(folder: string): void {
  mkdirSync(folder);
  const tokenizer = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: "WhitespaceSplit" },
    post_processor: null,
    decoder: null,
    model: {
      type: "WordLevel",
      unk_token: "word0",
      vocab: Object.fromEntries(words.map((word, id) => [word, id])),
    },
  };
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
}
