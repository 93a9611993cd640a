/** Any OpenEnv server as an environment: one WebSocket session an episode. */
import { setTimeout as wait } from "node:timers/promises";
import PQueue from "p-queue";
import { z } from "zod";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Message, Task } from "../../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type SplitName,
} from "../environment.ts";
import { openSession, type Said, type Session, SessionLost } from "./openenvSession.ts";

/** Settings of {@link openEnv}. */
export interface OpenEnvOptions {
  /** Where the server is, e.g. `http://127.0.0.1:8000`. */
  readonly url: string;
  /** Default: what the server says of itself. */
  readonly name?: string;
  /** For each split, what `reset` gets for each of its tasks. Default: seeds 0…199, 10000…10049 and 20000…20199. */
  readonly splits?: Readonly<Record<SplitName, readonly Readonly<Record<string, Json>>[]>>;
  /** The server's action for what was written. Default: its one text field, or what was written read as JSON. */
  readonly action?: (content: string) => Json;
  /** What is seen of an observation. Default: its messages, its one text field, or all of it as JSON. */
  readonly render?: (observation: Readonly<Record<string, Json>>) => string | readonly Message[];
  /** Whether an episode that is over was a success. Default: its last reward is above 0. */
  readonly success?: (last: { readonly reward: number; readonly total: number }) => boolean;
  readonly limits?: Partial<Environment["limits"]>;
  /** Every text that can occur, for engines that make their own tokenizer. */
  readonly vocabulary?: () => readonly string[];
  /** Sent with every request, e.g. an `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Longest wait for one answer. Default 60. */
  readonly messageSeconds?: number;
  /** How long a server that is gone is tried again, at the start of an episode, before the episode is given up. Default 30. */
  readonly reconnectSeconds?: number;
}

const metadata = z.object({ name: z.string().default("openenv"), description: z.string().default("") });
const schemas = z.object({
  action: z.object({
    properties: z.record(z.string(), z.looseObject({ type: z.string().optional() })).default({}),
  }),
});

const seeds = (from: number, count: number) => Array.from({ length: count }, (_, i) => ({ seed: from + i }));

/**
 * The server's tasks are what `reset` is called with; a server decides itself whether equal seeds are equal tasks. As many
 * episodes run at once as it has room for: where it says that it is full, the rest wait. A server that dies costs the
 * episodes that it was in the middle of; later ones find it again, or fail after `reconnectSeconds`. An action that the
 * server calls invalid is no failure: its words are what is seen next.
 * @throws WhetstoneError `environment.broken` where nothing that speaks OpenEnv answers.
 */
export async function openEnv(options: OpenEnvOptions): Promise<Environment> {
  const { url, splits, headers = {}, messageSeconds = 60, reconnectSeconds = 30 } = options;
  const { success = ({ reward }) => reward > 0 } = options;
  const about = await described(url, "metadata", metadata, headers);
  const { action: schema } = await described(url, "schema", schemas, headers);
  const write = options.action ?? actionWriter(Object.entries(schema.properties));
  const render = options.render ?? rendered;
  const sets: NonNullable<OpenEnvOptions["splits"]> = splits ?? {
    train: seeds(0, 200),
    validation: seeds(10_000, 50),
    test: seeds(20_000, 200),
  };
  // waiting for room is the environment's own time
  const limits = { turns: 30, actionTokens: 256, seconds: 3600, ...options.limits };
  const room = new PQueue();
  const seat = (): Promise<() => void> =>
    new Promise((got) => void room.add(() => new Promise<void>((free) => got(free))));

  /** A session whose episode has begun; waits for room and for a server that is away. */
  async function begin(reset: Readonly<Record<string, Json>>) {
    const began = performance.now();
    const isOver = (seconds: number): boolean => performance.now() - began > seconds * 1000;
    for (let pause = 100; ; pause = Math.min(5000, 2 * pause)) {
      const free = await seat();
      let session: Session | undefined;
      try {
        session = await openSession(url, headers, messageSeconds);
        const first = await session.ask({ type: "reset", data: reset });
        if (first.kind === "observation") return { session, first, free };
        if (first.code !== "CAPACITY_REACHED" || isOver(limits.seconds))
          throw new Error(`reset: ${first.message}`);
        // no more at once than it has room for, though somebody else may have some of it for now
        room.concurrency = Math.max(1, first.room ?? room.pending - 1);
      } catch (e) {
        if (!(e instanceof SessionLost) || isOver(reconnectSeconds)) {
          free();
          session?.close();
          throw e;
        }
      }
      session?.close();
      free();
      await wait(pause);
    }
  }

  async function start(task: Task): Promise<Episode> {
    const { session, first, free } = await begin(task.metadata.reset as Readonly<Record<string, Json>>);
    let news: readonly Message[] = seen(first.observation, render);
    let ended = false;
    let total = 0;
    return {
      observe: async () => ({ role: "agent", observation: { messages: news } }),
      async act({ content }) {
        if (ended) return alreadyOver;
        const sent = attempt(() => write(content));
        const said: Said =
          "wrong" in sent ? refusal(sent.wrong) : await session.ask({ type: "step", data: sent.value });
        if (said.kind === "error") {
          if (said.code !== "VALIDATION_ERROR") throw new Error(`step: ${said.message}`);
          news = [{ role: "user", content: said.message }];
          return { text: said.message };
        }
        news = seen(said.observation, render);
        ended = said.done;
        const reward = said.reward ?? 0;
        total += reward;
        return {
          ...(said.reward === undefined ? {} : { rewards: { openenv: said.reward } }),
          ...(ended && {
            end: { kind: "done", reason: "done", success: success({ reward, total }) } as const,
          }),
        };
      },
      async close() {
        session.close();
        free();
      },
    };
  }

  return defineEnvironment({
    name: options.name ?? about.name,
    summary: about.description || `the OpenEnv server at ${new URL(url).host}`,
    abilities: new Set<never>(),
    roles: ["agent"],
    splits: Object.keys(sets),
    limits,
    tasks: (split) =>
      (sets[split] ?? []).map((reset, i) => ({
        id: `${options.name ?? about.name}/${split}/${i}`,
        prompt: [],
        metadata: { reset },
        seed: i,
      })),
    start,
    ...(options.vocabulary ? { vocabulary: options.vocabulary } : {}),
  });
}

async function described<T>(
  url: string,
  path: string,
  schema: z.ZodType<T>,
  headers: Readonly<Record<string, string>>,
): Promise<T> {
  try {
    const response = await fetch(new URL(path, url.endsWith("/") ? url : `${url}/`), {
      headers,
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return schema.parse(await response.json());
  } catch (e) {
    throw new WhetstoneError("environment.broken", {
      where: `${url}, /${path}`,
      got: messageOf(e).replaceAll(/\s+/g, " "),
      expected: "an OpenEnv server",
      fix: "Start it, or check the address.",
      cause: e,
    });
  }
}

/** One text field takes what was written as it is; anything else is written as JSON. */
function actionWriter(
  properties: readonly (readonly [string, { readonly type?: string | undefined }])[],
): (content: string) => Json {
  const fields = properties.filter(([name]) => name !== "metadata");
  const [only] = fields;
  if (only && fields.length === 1 && only[1].type === "string") return (content) => ({ [only[0]]: content });
  return (content) => JSON.parse(content) as Json;
}

const messages = z.array(
  z.object({ role: z.enum(["system", "user", "assistant", "tool"]), content: z.string() }),
);

/** See {@link OpenEnvOptions.render}. */
function rendered(observation: Readonly<Record<string, Json>>): string | readonly Message[] {
  const said = messages.safeParse(observation.messages);
  if (said.success) return said.data;
  const texts = Object.values(observation).filter((value) => typeof value === "string" && value !== "");
  return texts.length === 1 ? String(texts[0]) : JSON.stringify(observation);
}

function seen(
  observation: Readonly<Record<string, Json>>,
  render: NonNullable<OpenEnvOptions["render"]>,
): readonly Message[] {
  const shown = render(observation);
  return typeof shown === "string" ? [{ role: "user", content: shown }] : shown;
}

const refusal = (why: string): Said => ({
  kind: "error",
  code: "VALIDATION_ERROR",
  message: `The action could not be read: ${why}`,
});

function attempt<T>(work: () => T): { readonly value: T } | { readonly wrong: string } {
  try {
    return { value: work() };
  } catch (e) {
    return { wrong: messageOf(e) };
  }
}
