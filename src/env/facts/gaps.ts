/**
 * What the flawed player of the facts environment cannot do: three skills that are missing in some situations,
 * although it shows each of them in neighbouring ones. A policy cloned from it therefore has a small chance of the
 * right move, reinforcement can find it, and what is found carries over to chains that were never trained on.
 *
 * | gap         | lacks                                                        | shows the same skill                      |
 * | ----------- | ------------------------------------------------------------ | ----------------------------------------- |
 * | stops early | going on from a country to its language or continent         | going on to capital, currency, city       |
 * | gives up    | finding the country after "… is a city , not a country"      | searching after "no entry for …"          |
 * | wrong word  | saying "currency" of a country that it had to find first     | saying it of a country in the question    |
 *
 * A gap spares a fixed share of the questions, chosen by a hash of the wording: a small network cannot tell which,
 * and clones the share as a probability.
 */
import { randomStream } from "../../core/random.ts";
import type { Task } from "../../core/types.ts";
import { type Asked, askedBy } from "./questions.ts";
import type { Relation } from "./world.ts";

/** How far a conversation has come, read from what the environment said. */
export interface Progress {
  readonly task: Task;
  /** The name that the next look-up is about. */
  readonly current: string;
  /** Relations still to be looked up. */
  readonly left: readonly Relation[];
  /** The last command, "" at the start. */
  readonly command: string;
  /** The last reply of the environment, "" at the start. */
  readonly last: string;
}

/** A skill that the flawed player lacks in some tasks. */
export interface Gap {
  readonly name: string;
  /** Tasks in which the skill is needed. */
  readonly applies: (asked: Asked) => boolean;
  /** Share of those tasks in which the player has the skill. */
  readonly spares: number;
  /** What the player does now instead of the right move; undefined where it does the right move. */
  readonly instead: (now: Progress) => string | undefined;
}

const foundCountry = (now: Progress): boolean => now.current !== askedBy(now.task).entity;
const endsIn = (asked: Asked, ...relations: readonly string[]): boolean =>
  relations.includes(asked.path.at(-1)!);

/** Every gap of the flawed player; the first that applies to a task is the one that counts. */
export const gaps: readonly Gap[] = [
  {
    name: "gives up",
    applies: (asked) => asked.start === "place",
    spares: 0.12,
    instead: (now) => (now.last.endsWith(" , not a country") ? "answer unknown" : undefined),
  },
  {
    name: "stops early",
    applies: (asked) => asked.hops > 1 && endsIn(asked, "language", "continent"),
    spares: 0.12,
    instead: (now) => (now.left.length === 1 && foundCountry(now) ? `answer ${now.current}` : undefined),
  },
  {
    name: "wrong word",
    applies: (asked) => asked.hops > 1 && endsIn(asked, "currency"),
    spares: 0.12,
    instead: (now) => {
      if (now.left[0] !== "currency" || !foundCountry(now)) return undefined;
      const wrong = `lookup capital of ${now.current}`;
      return now.command === wrong ? `answer ${now.last}` : wrong;
    },
  },
];

/** The gap that a task runs into, if any. At most one. */
export function gapOf(task: Task): Gap | undefined {
  const gap = gaps.find((g) => g.applies(askedBy(task)));
  return gap === undefined || randomStream(task.id).split(gap.name).next() < gap.spares ? undefined : gap;
}
