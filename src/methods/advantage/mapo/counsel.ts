/** A dialogue with a person in a low mood: advice helps after a question about the cause, and a judge scores each reply. */
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Player,
  type Step,
} from "../../../env/environment.ts";

/** Settings of {@link counsel}. */
export interface CounselOptions {
  /** People to talk to, per split. Default 16. */
  readonly people?: number;
  /** Replies until the talk is over. Default 16. */
  readonly turns?: number;
  /** Probability that the person leaves after a reply of the second half. Default 0. */
  readonly leaves?: number;
  /** Bias of the judge: added to the first reply, subtracted from the last, linear in between. Default 1. */
  readonly drift?: number;
  /** Deviation of the judge's score of a reply. Default 1. */
  readonly noise?: number;
  /** Deviation of the rating at the end. Default 3. */
  readonly ratingNoise?: number;
}

/** The possible replies. */
export const replies = ["validate", "advise", "probe", "joke"] as const;

const worst = -5;
const best = 5;
const start = -2;

/** Number of replies since the last probe; "none" beyond two. */
function sinceProbe(said: readonly string[]): string {
  if (said.at(-1) === "probe") return "probed";
  return said.at(-2) === "probe" ? "answered" : "none";
}

/** What a reply changes in the mood. Whether a joke is good depends on the person and the moment. */
function changeOf(task: Task, said: readonly string[], reply: string): number {
  switch (reply) {
    case "validate":
      return 0.3;
    case "advise":
      return sinceProbe(said) === "answered" ? 2 : -0.5;
    case "probe":
      return -0.4;
    case "joke":
      return randomStream(task.seed).split("joke", said.length).next() < 0.5 ? 0.8 : -0.8;
    default:
      return -0.5;
  }
}

/** The true mood after these replies, in [−5, 5]; it begins at −2. */
export function moodAfter(task: Task, said: readonly string[]): number {
  return said.reduce(
    (mood, reply, k) => Math.min(best, Math.max(worst, mood + changeOf(task, said.slice(0, k), reply))),
    start,
  );
}

/**
 * Of all replies, advice helps most, but only two replies after the last probe, which hurts a little. The agent sees the
 * number of the reply and how long ago the last probe was, `t3 answered`; the mood itself is hidden. Every reply has a
 * reward `judge`: the change of mood, the judge's bias at that moment, and noise, within ±3. The last one also has
 * `outcome`, a noisy rating of the final mood. Success: the true final mood is above 0.
 */
export function counsel(options: CounselOptions = {}): Environment {
  const { people = 16, turns = 16, leaves = 0, drift = 1, noise = 1, ratingNoise = 3 } = options;
  const splits = ["train", "test"] as const;
  const view = (said: readonly string[]): string => `t${said.length} ${sinceProbe(said)}`;

  function taskAt(split: string, index: number): Task {
    return {
      id: `counsel/${split}/${index}`,
      prompt: [{ role: "user", content: view([]) }],
      metadata: {},
      seed: randomStream("counsel").split(split, index).seed,
    };
  }

  function start(task: Task, random: Random): Episode {
    const said: string[] = [];
    let ended = false;
    return {
      async observe() {
        const messages = said.length === 0 ? [] : [{ role: "user" as const, content: view(said) }];
        return { role: "agent", observation: { messages, legal: [...replies] } };
      },
      async act(action): Promise<Step> {
        if (ended) return alreadyOver;
        const own = random.split("reply", said.length);
        const general = drift * (1 - (2 * said.length) / Math.max(1, turns - 1));
        const mood = moodAfter(task, said);
        said.push(action.content.trim());
        const after = moodAfter(task, said);
        const score = after - mood + general + noise * own.split("judge").normal();
        const judge = Math.min(3, Math.max(-3, score));
        const tired = said.length > turns / 2 && own.split("patience").next() < leaves;
        ended = said.length >= turns || tired;
        if (!ended) return { rewards: { judge } };
        const outcome = after + ratingNoise * own.split("rating").normal();
        const reason = tired ? "left" : "over";
        return { rewards: { judge, outcome }, end: { kind: "done", reason, success: after > 0 } };
      },
    };
  }

  /** Repeats: probe, validate until the answer comes, advise. */
  const expert: Player = (_task, conversation) => {
    const said = conversation.filter((m) => m.role === "assistant").map((m) => m.content);
    const since = sinceProbe(said);
    return since === "answered" ? "advise" : since === "probed" ? "validate" : "probe";
  };

  return defineEnvironment({
    name: "counsel",
    summary: "lift somebody's mood in a talk; advice helps after a question, and a judge scores each reply",
    abilities: new Set(["expert", "legal"] as const),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: 1 },
    tasks: (split) =>
      splits.some((s) => s === split) ? Array.from({ length: people }, (_, i) => taskAt(split, i)) : [],
    start: async (task, random) => start(task, random),
    vocabulary: () => [
      ...replies,
      "none probed answered",
      ...Array.from({ length: turns }, (_, i) => `t${i}`),
    ],
    expert,
    /** Scores are drawn once, during the episode: `verify` repeats the final rating. */
    async verify(_task: Task, trajectory: Trajectory) {
      return { outcome: trajectory.turns.at(-1)?.rewards.outcome ?? 0 };
    },
  });
}
