/** A tiny environment to train in, runs in it, and the data that a run leaves behind. */
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { isWhetstoneError } from "../../src/core/errors.ts";
import type { Model } from "../../src/core/model.ts";
import type { Task } from "../../src/core/types.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { localEngine } from "../../src/engine/local/index.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import type { Environment, Episode } from "../../src/env/environment.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { openRunStore } from "../../src/store/runStore.ts";
import type { RunEvent } from "../../src/train/events.ts";
import { type RunOptions, type RunSummary, train } from "../../src/train/run.ts";
import { temporary } from "../temporary.ts";

const words = ["red", "green", "blue"] as const;
const sizes: Readonly<Record<string, number>> = { train: 12, validation: 6, test: 6 };

const tasksOf = (split: string): Task[] =>
  Array.from({ length: sizes[split] ?? 0 }, (_, i) => ({
    id: `echo/${split}/${i}`,
    prompt: [{ role: "user", content: words[i % 3]! }],
    metadata: { asked: [words[i % 3]!, words[Math.floor(i / 3) % 3]!] },
    seed: i,
  }));

/** Says a word, wants it back, says another, wants that back. The flawed player knows only the first word of each task. */
export function echo(more: Partial<Environment> = {}): Environment {
  return {
    name: "echo",
    summary: "say what was said",
    abilities: new Set(),
    roles: ["agent"],
    splits: ["train", "validation", "test"],
    limits: { turns: 2, actionTokens: 3 },
    tasks: tasksOf,
    vocabulary: () => [...words],
    flawed: (task, conversation) =>
      conversation.length === 1 ? String((task.metadata.asked as string[])[0]) : "red",
    start: async (task): Promise<Episode> => {
      const asked = task.metadata.asked as string[];
      let turn = 0;
      let right = 0;
      return {
        observe: async () => ({
          role: "agent",
          observation: { messages: turn === 0 ? [] : [{ role: "user", content: asked[turn]! }] },
        }),
        act: async ({ content }) => {
          const hit = Number(content === asked[turn]);
          right += hit;
          turn++;
          const rewards = { echoed: hit };
          if (turn < 2) return { rewards };
          return { rewards, end: { kind: "done", reason: "said", success: right === 2 } };
        },
      };
    },
    ...more,
  };
}

/** The same environment, with a random delay before every answer. */
export function delayed(environment: Environment, most = 3): Environment {
  const wait = () => new Promise((go) => setTimeout(go, Math.random() * most));
  return {
    ...environment,
    async start(...args) {
      await wait();
      const episode = await environment.start(...args);
      return {
        observe: () => wait().then(() => episode.observe()),
        act: (action) => wait().then(() => episode.act(action)),
      };
    },
  };
}

/** The same environment, with a hook at every start; if the hook throws, the environment throws. */
export function watched(
  environment: Environment,
  onStart: (task: Task, seed: number) => void | Promise<void>,
): Environment {
  return {
    ...environment,
    async start(task, random) {
      await onStart(task, random.seed);
      return environment.start(task, random);
    },
  };
}

/** The same engine, with a hook before each call of its models. */
export function spied(engine: Engine, onCall: (name: keyof Model) => void): Engine {
  const wrap = (model: Model): Model =>
    new Proxy(model, {
      get(target, name: keyof Model) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          onCall(name);
          return value.apply(target, args);
        };
      },
    });
  return {
    ...engine,
    create: async (request) => wrap(await engine.create(request)),
    open: async (id, folder) => wrap(await engine.open(id, folder)),
  };
}

export const tiny = (): Engine =>
  localEngine({ size: { width: 32, layers: 1, heads: 2, kvHeads: 2, feedForward: 32 }, threads: 1 });

export const engines = { local: tiny, tabular: tabularEngine } as const;

/** A few iterations with a short warm start and validation. */
export function settings(name: keyof typeof engines, engine: Engine = engines[name]()): RunOptions {
  const learningRate = name === "local" ? 0.003 : 0.3;
  return {
    environment: echo(),
    engine,
    method: grpo.build({ tasks: 3, groupSize: 4, minibatches: 2, learningRate }),
    iterations: 4,
    contextTokens: 32,
    checkpointSeconds: 0,
    warmStart: { updates: 4, every: 2, batch: 6, learningRate },
    evaluation: { tasks: 3, every: 2, validationTasks: 6 },
  };
}

/** A temporary folder, removed after the test or the file, or at another given time. */
export function folder(then: (work: () => void) => void = after): string {
  const made = mkdtempSync(join(temporary, "whetstone-train-"));
  then(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

export interface Ran {
  readonly summary: RunSummary;
  readonly events: readonly RunEvent[];
}

/** Trains in a folder `run` inside `root`, with its store beside it. */
export async function runIn(
  root: string,
  options: RunOptions,
  {
    stop = new AbortController().signal,
    onEvent = () => {},
  }: { readonly stop?: AbortSignal; readonly onEvent?: (event: RunEvent) => void } = {},
): Promise<Ran> {
  const events: RunEvent[] = [];
  const report = (event: RunEvent): void => {
    events.push(event);
    onEvent(event);
  };
  const summary = await train({ ...options, out: join(root, "run") }, report, stop);
  return { summary, events };
}

/** Metrics that depend on the machine: its clock and its memory. */
const timed = /seconds|tokensPerSecond|memory/i;

export interface Trace {
  readonly weights: string;
  readonly trajectories: readonly unknown[];
  readonly metrics: readonly unknown[];
  readonly evaluations: readonly unknown[];
}

const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** All data that a run leaves behind, without wall-clock times. */
export async function traceOf(root: string): Promise<Trace> {
  const final = join(root, "run", "final");
  const store = await openRunStore(join(root, "whetstone.sqlite"));
  try {
    const [run] = await store.runs();
    const rows = await store.trajectories(run!.id);
    const trajectories = await Promise.all(
      rows.map(async ({ iteration, phase, id }) => {
        const found = await store.trajectory(run!.id, { iteration, phase, id });
        const { trajectory, advantage } = found!;
        return {
          iteration,
          phase,
          ...trajectory,
          turns: trajectory.turns.map((turn) => ({ ...turn, ms: 0 })),
          advantage,
        };
      }),
    );
    return {
      weights: readdirSync(final)
        .sort()
        .map((name) => `${name} ${hash(readFileSync(join(final, name)))}`)
        .join("\n"),
      trajectories,
      metrics: (await store.metrics(run!.id)).filter((m) => !timed.test(m.name)),
      evaluations: (await store.evaluations(run!.id)).map((e) => ({ ...e, seconds: 0 })),
    };
  } finally {
    await store.close();
  }
}

/** For assert.rejects: an error of one line with this code. */
export const withCode =
  (code: string, words = /./) =>
  (e: unknown): boolean =>
    isWhetstoneError(e) && e.code === code && words.test(e.message) && !e.message.includes("\n");
