/** An ordinary agent function as an environment: it calls a model as ever, and the model that answers is the policy. */
import { randomBytes } from "node:crypto";
import { WhetstoneError } from "../../core/errors.ts";
import { type Random, randomStream } from "../../core/random.ts";
import type { Message, Task } from "../../core/types.ts";
import { type Listening, listen } from "../../http/listen.ts";
import { defineEnvironment, type Environment, type SplitName, type Step } from "../environment.ts";
import { type Backend, endpoint } from "./endpoint.ts";
import { agentSession, type Session } from "./session.ts";

/** A task of one's own: JSON, such as `{ question, answer }`; it may be an interface. */
export type AgentTask = object;

/** Everything that a client needs to reach the policy: `new OpenAI(openai)`, `createOpenAICompatible(openai)`. */
export interface OpenAISettings {
  /** Ends in `/v1`. Of this episode alone, on the loopback interface. */
  readonly baseURL: string;
  readonly apiKey: string;
  /** What requests may name as their model; any other name does as well. */
  readonly model: string;
  readonly name: string;
}

/** What an agent function gets. */
export interface AgentCall<T extends AgentTask> {
  readonly task: T;
  readonly openai: OpenAISettings;
  /** Names the episode, for logs. Nothing of it belongs into a prompt. */
  readonly session: string;
  /** Aborted once the episode is over: by a limit, say. */
  readonly signal: AbortSignal;
}

/**
 * An agent: it works on a task by calling the model that `openai` leads to, and returns its result, which is then
 * rewarded.
 */
export type AgentFunction<T extends AgentTask, Result> = (call: AgentCall<T>) => Promise<Result>;

/** A scripted stand-in for the policy: what it would write, calls in the form of `writeCall`. */
export type AgentPlayer<T extends AgentTask> = (
  task: T,
  conversation: readonly Message[],
  random: Random,
) => string;

/** Settings of {@link agent}: its tasks, and what its results are worth. */
export interface AgentOptions<T extends AgentTask, Result> {
  /** Default: the function's own name. */
  readonly name?: string;
  readonly summary?: string;
  /** By split; "train" is trained. */
  readonly tasks: Readonly<Record<SplitName, readonly T[]>>;
  /** What a result is worth: one number, recorded as `outcome`, or several by name. */
  readonly reward: (task: T, result: Result) => Pay | Promise<Pay>;
  /** Whether it is a success. Default: an `outcome` of 1 or more. */
  readonly success?: (task: T, result: Result) => boolean;
  /** Feedback in words about a result. */
  readonly feedback?: (task: T, result: Result) => string | undefined;
  /** How a task reads where tasks are shown. Default: its JSON. */
  readonly prompt?: (task: T) => string;
  /**
   * Calls of one episode (default 16), tokens of one reply (default 256), and seconds that the agent itself may take, the
   * time of the model apart (default 60).
   */
  readonly limits?: Partial<Environment["limits"]>;
  /** The agent does the same on the same task and replies, so that an episode can be played again from any turn. */
  readonly replay?: boolean;
  /** Texts with every word that can occur, for models made from scratch on whole words. */
  readonly vocabulary?: () => readonly string[];
  readonly expert?: AgentPlayer<T>;
  readonly flawed?: AgentPlayer<T>;
}

type Pay = number | Readonly<Record<string, number>>;

/**
 * Makes an environment of an agent. Every call of a model that the agent makes through `openai` is a turn; what is trained
 * on are the tokens sampled, also where the agent edits its conversation (the training row is cut there). Temperature, nucleus and
 * seed are the run's affair; `max_tokens` and `stop` hold as the agent asks.
 *
 * An agent that throws, hangs, or returns without a call has a failed episode; one that calls too often, a truncated one.
 * Calls that it makes at the same time are played one after the other, in the order of their arrival; that order is the
 * agent's own affair, and so is then whether equal seeds give equal episodes.
 */
export function agent<T extends AgentTask, Result>(
  run: AgentFunction<T, Result>,
  options: AgentOptions<T, Result>,
): Environment {
  const { tasks, expert, flawed, vocabulary } = options;
  const name = options.name ?? (run.name || "agent");
  const limits = { turns: 16, actionTokens: 256, ...options.limits };
  const splits = Object.keys(tasks);
  const own = new Map<string, T>();
  const listed = new Map<SplitName, readonly Task<T>[]>();
  for (const split of splits) {
    const made = (tasks[split] ?? []).map((task, index): Task<T> => {
      const id = `${name}/${split}/${index}`;
      own.set(id, task);
      return {
        id,
        prompt: [{ role: "user", content: options.prompt?.(task) ?? JSON.stringify(task) }],
        metadata: task,
        seed: randomStream(name).split(split, index).seed,
      };
    });
    listed.set(split, made);
  }
  const ownTask = ({ id }: Task<T>): T => {
    const task = own.get(id);
    if (task !== undefined) return task;
    throw new WhetstoneError("name.unknown", {
      where: `agent "${name}"`,
      got: `the task "${id}"`,
      expected: "one of the tasks that it was made with",
      fix: "Take tasks from the environment's own `tasks`.",
    });
  };
  const played =
    (player: AgentPlayer<T>) =>
    (task: Task<T>, conversation: readonly Message[], random: Random): string =>
      player(ownTask(task), conversation, random);
  const sessions = sessionServer(name);

  return defineEnvironment<T>({
    name,
    summary: options.summary ?? "an agent function, each call of its model a turn",
    abilities: new Set([
      ...(expert ? (["expert"] as const) : []),
      ...(options.replay ? (["replay"] as const) : []),
    ]),
    roles: ["agent"],
    splits,
    limits,
    tasks: (split) => listed.get(split) ?? [],
    ...(vocabulary && { vocabulary }),
    ...(expert && { expert: played(expert) }),
    ...(flawed && { flawed: played(flawed) }),

    async start(task, random) {
      const mine = ownTask(task);
      const { openai, join, leave } = await sessions.enter();
      const session = agentSession<Result>({
        run: (signal) =>
          run({ task: mine, openai, session: `${task.id}/${random.seed.toString(36)}`, signal }),
        grade: (result) => graded(options, mine, result),
        waiting: limits.turns,
      });
      join(session);
      return {
        ...session.episode,
        async close() {
          await session.episode.close?.();
          leave();
        },
      };
    },

    // the result is not among the turns: the reward is the one that was given
    verify: async (_task, { turns }) => ({ outcome: 0, ...turns.at(-1)?.rewards }),
  });
}

async function graded<T extends AgentTask, Result>(
  { reward, success, feedback }: AgentOptions<T, Result>,
  task: T,
  result: Result,
): Promise<Step> {
  const pay = await reward(task, result);
  const rewards = typeof pay === "number" ? { outcome: pay } : pay;
  const strange = Object.entries(rewards).find(([, value]) => !Number.isFinite(value));
  if (strange) {
    throw new WhetstoneError("value.notFinite", {
      where: "agent: reward",
      got: `${strange[0]} = ${strange[1]}`,
      expected: "finite numbers",
      fix: "Give a number for every result, also for one that makes no sense.",
    });
  }
  const good = success?.(task, result) ?? (rewards.outcome ?? 0) >= 1;
  const text = feedback?.(task, result);
  return {
    rewards,
    ...(text === undefined ? {} : { text }),
    end: { kind: "done", reason: good ? "success" : "no success", success: good },
  };
}

/** One server for all episodes at a time: it listens while any is played. Each has a path and a key of its own. */
function sessionServer(model: string) {
  const live = new Map<string, Backend>();
  let listening: Promise<Listening> | undefined;
  let entered = 0;
  const app = endpoint((path) => (path === undefined ? undefined : live.get(path)));
  return {
    async enter() {
      entered++;
      listening ??= listen((request) => app.fetch(request), { background: true });
      const { url } = await listening;
      const path = randomBytes(12).toString("hex");
      const key = randomBytes(24).toString("hex");
      const openai: OpenAISettings = {
        baseURL: `${url}/session/${path}/v1`,
        apiKey: key,
        model,
        name: "whetstone",
      };
      return {
        openai,
        join({ complete }: Session): void {
          // an agent sees the same whenever it is played
          live.set(path, { key, model, created: () => 0, complete });
        },
        leave(): void {
          if (!live.delete(path) || --entered > 0) return;
          // agents that go on after their end are still told so for a while
          setTimeout(() => {
            if (entered > 0) return;
            listening?.then((server) => server.close());
            listening = undefined;
          }, 1000).unref();
        },
      };
    },
  };
}
