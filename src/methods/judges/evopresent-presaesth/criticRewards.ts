import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";

/** What a prompt asks of the critic, with its label. */
export type Asked =
  | { readonly kind: "score"; readonly score: number }
  | { readonly kind: "defects"; readonly defects: readonly string[] }
  | { readonly kind: "compare"; readonly better: string };

/** Settings of {@link criticReward}. */
export interface CriticRewardOptions {
  /** δ, in units of the score: an answer closer to the label than this is right. Default 0.3. */
  readonly tolerance?: number;
  /** κ in [0, 1]: a list of defects with a higher F1 is right. Default 0.6. */
  readonly overlap?: number;
}

/** What an artefact without defects is answered with. */
export const noDefects = "none";

/** F1 of the named defects against the true ones; 1 where both are empty. */
export function defectsF1(named: ReadonlySet<string>, real: ReadonlySet<string>): number {
  if (named.size + real.size === 0) return 1;
  return (2 * [...named].filter((one) => real.has(one)).length) / (named.size + real.size);
}

/**
 * The reward of an answer, by what its prompt asks for:
 *
 *     score:    1[|ŝ − s| < δ]          defects:  1[F1 > κ]          compare:  1[answer = label]
 *     r = R_task + R_f                  R_f: 1 for an answer in the form of its kind, else 0, and then R_task = 0 too
 *
 * An answer to "defects" is a list of words, or `none` alone: an artefact without defects pays for saying that it has none.
 * Paper: "Presenting a Paper is an Art: Self-Improvement Aesthetic Agents for Academic Presentations".
 */
export function criticReward(asked: Asked, answer: string, options: CriticRewardOptions = {}): number {
  const { tolerance = 0.3, overlap = 0.6 } = options;
  const words = answer.split(/\s+/).filter((word) => word !== "");
  const [first = ""] = words;
  switch (asked.kind) {
    case "score": {
      if (words.length !== 1 || !/^-?\d+(\.\d+)?$/.test(first)) return 0;
      return 1 + Number(Math.abs(Number(first) - asked.score) < tolerance);
    }
    case "defects": {
      if (words.length === 0 || (words.includes(noDefects) && words.length > 1)) return 0;
      const named = new Set(words.filter((word) => word !== noDefects));
      return 1 + Number(defectsF1(named, new Set(asked.defects)) > overlap);
    }
    case "compare":
      return words.length === 1 ? 1 + Number(first === asked.better) : 0;
  }
}

/** {@link criticReward} of each attempt at a task that asks a critic something, on channel "outcome"; failed attempts and other tasks get none. */
export const criticRewards =
  (askedOf: (task: Task) => Asked | undefined, options: CriticRewardOptions = {}): Feedback =>
  async (ctx, { trajectories }) =>
    trajectories.flatMap((t): Signal[] => {
      const asked = t.end.kind === "failed" ? undefined : askedOf(ctx.task(t.task));
      const answer = t.turns.at(-1)?.action.content;
      if (!asked || answer === undefined) return [];
      const value = criticReward(asked, answer, options);
      return [{ kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value, source: "label" }];
    });
