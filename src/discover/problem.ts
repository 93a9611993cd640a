/** One problem whose best solution is searched for, and the environment in which it is played. */
import { messageOf, WhetstoneError } from "../core/errors.ts";
import type { Random } from "../core/random.ts";
import type { Message, Task } from "../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "../env/environment.ts";

/** A problem with one score. Candidates are texts: programs, prompts, plans, numbers. */
export interface Problem {
  readonly name: string;
  /** What a good candidate is and how it is written: what a model behind an API is told. */
  readonly summary: string;
  /** Candidates that the search begins from, at least one. */
  readonly starts: readonly string[];
  /**
   * The score of a candidate, larger is better; equal candidates have equal scores. Nothing, NaN and an error mean that the
   * candidate is not valid.
   */
  score(candidate: string): number | undefined | Promise<number | undefined>;
  /** The largest score that exists, where it is known: the search ends there. */
  readonly optimum?: number;
  /** What a candidate that is not valid counts as in training. Default 0. */
  readonly floor?: number;
  /** Edits. Without them only a model that writes whole candidates can search. */
  readonly moves?: {
    /** Every edit that a candidate allows, each a short text. */
    of(candidate: string): readonly string[];
    apply(candidate: string, move: string): string;
  };
  /** Words that candidates and edits can contain, for a small model. Default: those of the starts and their edits. */
  vocabulary?(): readonly string[];
}

/**
 * Checks a problem's fields and returns it.
 * @throws WhetstoneError `config.invalid`, naming the field.
 * @example
 * export default defineProblem({
 *   name: "ones", summary: "a text of sixteen 0s and 1s; the more 1s, the better", starts: ["0".repeat(16)], optimum: 16,
 *   score: (text) => text.split("1").length - 1,
 *   moves: { of: (text) => [...text].map((_, i) => `${i}`), apply: (text, i) => text.slice(0, +i) + "1" + text.slice(+i + 1) },
 * });
 */
export function defineProblem(problem: Problem): Problem {
  // JavaScript callers and casts may pass anything
  const given = (problem ?? {}) as { readonly [K in keyof Problem]?: unknown };
  if (typeof given !== "object") {
    throw new WhetstoneError("config.invalid", {
      where: "problem",
      got: typeof given === "function" ? "a function" : JSON.stringify(given),
      expected: "an object with name, summary, starts and score",
      fix: "Make it with defineProblem({ … }).",
    });
  }
  const isSaid = (x: unknown): boolean => typeof x === "string" && x.trim() !== "";
  const isNumber = (x: unknown): boolean => x === undefined || Number.isFinite(x);
  const moves = given.moves as Partial<Record<"of" | "apply", unknown>> | undefined;
  const needs: readonly (readonly [field: string, value: unknown, fits: boolean, expected: string])[] = [
    ["name", given.name, isSaid(given.name), "a text that is not empty"],
    ["summary", given.summary, isSaid(given.summary), "what a good candidate is, in words"],
    [
      "starts",
      given.starts,
      Array.isArray(given.starts) &&
        given.starts.length > 0 &&
        given.starts.every((x) => typeof x === "string"),
      "a list of candidates to begin from, each a text",
    ],
    ["score", given.score, typeof given.score === "function", "a function from a candidate to a number"],
    ["optimum", given.optimum, isNumber(given.optimum), "a number"],
    ["floor", given.floor, isNumber(given.floor), "a number"],
    [
      "moves",
      given.moves,
      moves === undefined || (typeof moves?.of === "function" && typeof moves.apply === "function"),
      "an object with of(candidate) and apply(candidate, move)",
    ],
  ];
  for (const [field, value, fits, expected] of needs) {
    if (fits) continue;
    throw new WhetstoneError("config.invalid", {
      where: `problem${isSaid(given.name) ? ` "${given.name}"` : ""}: ${field}`,
      got: value === undefined ? "nothing" : typeof value === "object" ? "another object" : String(value),
      expected,
      fix: "Correct it where the problem is defined.",
    });
  }
  return problem;
}

/** How candidates are made from others. */
export interface Proposing {
  /** "moves": an action is an edit. "whole": an action is a whole candidate, perhaps in a fence. */
  readonly writes: "moves" | "whole";
  /** Edits from one candidate to the next that is scored. */
  readonly edits: number;
}

/** A task that begins at a candidate. Its id names the candidate's node in the archive. */
export const taskAt = (id: string, candidate: string, node: number, score: number | null): Task => ({
  id,
  prompt: [{ role: "user", content: candidate }],
  metadata: { candidate, node, score },
  seed: node,
});

export const candidateOf = (task: Task): string => String(task.metadata.candidate);

/** The candidate that actions lead to, or undefined where one of them is none. @param actions texts of the actions, in order. */
export function proposed(
  problem: Problem,
  { writes }: Pick<Proposing, "writes">,
  from: string,
  actions: readonly string[],
): string | undefined {
  if (writes === "whole") return actions.length === 0 ? undefined : unfenced(actions.at(-1)!);
  let candidate = from;
  for (const action of actions) {
    const move = action.trim();
    if (!problem.moves?.of(candidate).includes(move)) return undefined;
    candidate = problem.moves.apply(candidate, move);
  }
  return candidate;
}

/** The content of the last fenced block, or the whole text. */
const unfenced = (text: string): string =>
  [...text.matchAll(/```[^\n]*\n([\s\S]*?)```/g)].at(-1)?.[1]?.trimEnd() ?? text.trim();

/** A finite score, or nothing. Errors of the user's function count as no score. */
export async function scoreOf(problem: Problem, candidate: string): Promise<number | undefined> {
  try {
    const score = await problem.score(candidate);
    return typeof score === "number" && Number.isFinite(score) ? score : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Tries what a search begins with: each start has a score, and where edits are drawn, edits that lead to texts. Later a candidate
 * without a score is only not valid; here it would be taken for a search that found nothing better.
 * @throws WhetstoneError `config.invalid`, with what the problem's function said.
 */
export async function requireStarts(problem: Problem, { writes }: Pick<Proposing, "writes">): Promise<void> {
  const { name, starts, moves } = problem;
  for (const [i, start] of starts.entries()) {
    const where = `problem "${name}": start ${i + 1}`;
    await requireThat(where, "a score, which is a number", () => problem.score(start), Number.isFinite);
    if (!moves || writes === "whole") continue;
    const isList = (x: unknown): boolean => Array.isArray(x) && x.length > 0 && x.every(isText);
    await requireThat(
      where,
      "moves.of(start), a list of texts that is not empty",
      () => moves.of(start),
      isList,
    );
    const made = (): string => moves.apply(start, moves.of(start)[0]!);
    await requireThat(where, "moves.apply(start, move), a text", made, isText);
  }
}

const isText = (x: unknown): boolean => typeof x === "string";

async function requireThat(
  where: string,
  expected: string,
  ask: () => unknown,
  fits: (x: unknown) => boolean,
): Promise<void> {
  let got: string;
  try {
    const x = await ask();
    if (fits(x)) return;
    got = Array.isArray(x) ? `a list of ${x.length}` : String(x);
  } catch (e) {
    got = `an error: ${messageOf(e)}`;
  }
  throw new WhetstoneError("config.invalid", {
    where,
    got,
    expected,
    fix: "Correct it where the problem is defined.",
  });
}

/** Whether a score is the largest that exists, up to rounding. */
export const isOptimal = ({ optimum }: Pick<Problem, "optimum">, score: number): boolean =>
  optimum !== undefined && score >= optimum - 1e-9 * Math.max(1, Math.abs(optimum));

/** Episodes begin at a candidate, take the edits, and are paid the score of what comes of it. */
export function problemEnvironment(problem: Problem, proposing: Proposing): Environment {
  const { floor = 0, moves } = problem;
  const { writes, edits } = proposing;
  if (writes === "moves" && !moves) {
    throw new WhetstoneError("config.invalid", {
      where: `problem "${problem.name}"`,
      got: "no moves",
      expected: "moves, from which new candidates are made",
      fix: "Give the problem moves, or let a model write whole candidates: --chat URL --model NAME.",
    });
  }
  const begun = (task: Task): Episode => {
    let taken = 0;
    let over = false;
    let candidate = candidateOf(task);
    let messages: readonly Message[] = writes === "whole" ? [request(problem, task)] : [];
    return {
      observe: async () => ({
        role: "agent",
        observation: {
          messages,
          stateKey: candidate,
          ...(moves && writes === "moves" ? { legal: moves.of(candidate) } : {}),
        },
      }),
      async act({ content }) {
        if (over) return alreadyOver;
        const next = proposed(problem, proposing, candidate, [content]);
        if (next !== undefined && ++taken < edits && writes === "moves") {
          candidate = next;
          messages = [{ role: "user", content: candidate }];
          return {};
        }
        over = true;
        const score = next === undefined ? undefined : await scoreOf(problem, next);
        return {
          rewards: { outcome: score ?? floor },
          end: {
            kind: "done",
            reason: score === undefined ? invalid : "scored",
            success: score !== undefined && isOptimal(problem, score),
          },
        };
      },
    };
  };
  const words = (): readonly string[] =>
    problem.vocabulary?.() ?? problem.starts.flatMap((start) => [start, ...(moves?.of(start) ?? [])]);
  return defineEnvironment({
    name: problem.name,
    summary: problem.summary.split("\n")[0]!.slice(0, 100),
    abilities: new Set(
      writes === "moves" ? (["stateKey", "legal", "replay"] as const) : (["stateKey", "replay"] as const),
    ),
    roles: ["agent"],
    splits: ["train"],
    limits: {
      turns: writes === "moves" ? edits : 1,
      actionTokens: writes === "moves" ? 64 : 4096,
      seconds: 600,
    },
    tasks: () => problem.starts.map((start, i) => taskAt(`start/${i}`, start, i, null)),
    start: async (task) => begun(task),
    ...(writes === "moves" || problem.vocabulary ? { vocabulary: words } : {}),
  });
}

/** Reason of an episode whose candidate has no score. */
export const invalid = "no score";

const request = ({ summary, optimum }: Problem, task: Task): Message => {
  const { score } = task.metadata;
  const known = typeof score === "number" ? ` Its score is ${score}.` : "";
  const best = optimum === undefined ? "" : ` The best score that exists is ${optimum}.`;
  return {
    role: "user",
    content: `${summary}\n\nAbove is a candidate.${known}${best} Write a candidate with a higher score, whole, between two lines of three backticks.`,
  };
};

/** Draws edits at random, without a model. */
export const randomMoves = (problem: Problem) => ({
  name: "random moves",
  act(_task: Task, conversation: readonly Message[], random: Random): string {
    const candidate = conversation.findLast(({ role }) => role === "user")?.content ?? "";
    const legal = problem.moves?.of(candidate) ?? [];
    return legal.length === 0 ? "" : legal[random.below(legal.length)]!;
  },
});
