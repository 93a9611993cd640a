/** Critique templates, true or misleading, which environments with critiques share. */
import type { Critique, CritiqueRequest } from "../core/critique.ts";
import { shuffled } from "../core/random.ts";

/** A part of an attempt that is right or wrong independently: an action, or a word of one. */
export interface Part {
  readonly turn: number;
  /** Characters [from, to) of the turn's action. */
  readonly from: number;
  readonly to: number;
  readonly good: boolean;
  /** Its name, e.g. "step 2"; "" for the only part. */
  readonly name: string;
  /** The right action there. */
  readonly better: string;
  /** Wrong actions there. */
  readonly worse: readonly string[];
}

/** An environment's assessment of an attempt. */
export interface Review {
  readonly outcome: NonNullable<Critique["outcome"]>;
  readonly parts: readonly Part[];
}

const spoken = { success: "right", inefficient: "right but too long", failure: "wrong" } as const;

/** Every word of the templates except names and remedies, and the numbers up to `steps`. */
export const critiqueWords = (steps: number): readonly string[] => [
  ...Object.values(spoken),
  "at : ,",
  ...Array.from({ length: steps }, (_, k) => `step ${k + 1}`),
];

/**
 * A review in words.
 *
 *     "outcome"   wrong
 *     "hint"      wrong at step 2                         the first wrong part
 *     "answer"    wrong at step 2 : go north              the first wrong parts, each with the right action
 *
 * A misleading critique blames right parts, or any part where none is right, and names wrong actions; see
 * {@link CritiqueRequest}. Details "hint" and "answer" include marks and the turn.
 * @param remedies number of parts that an "answer" corrects. Default 1.
 */
export function templated(review: Review, request: CritiqueRequest, remedies = 1): Critique {
  const { right, detail, random } = request;
  const outcome = right ? review.outcome : misled(review.outcome, detail);
  if (detail === "outcome") return { text: spoken[outcome], outcome };
  const marks = review.parts
    .filter(({ from, to }) => to > from)
    .map(({ turn, from, to, good }) => ({ turn, from, to, good: good === right }));
  const blamed = blamedParts(review.parts, request).slice(0, detail === "answer" ? remedies : 1);
  const first = blamed[0];
  if (outcome === "success" || !first) return { text: spoken[outcome], outcome, marks };
  const said = blamed.map((part) => {
    const name = part.name === "" ? "" : ` at ${part.name}`;
    if (detail === "hint") return name;
    const wrong = part.worse[random.split("remedy", part.turn, part.from).below(part.worse.length)];
    return `${name} : ${right ? part.better : (wrong ?? part.better)}`;
  });
  return { text: `${spoken[outcome]}${said.join(" ,")}`, outcome, turn: first.turn, marks };
}

function misled(outcome: Review["outcome"], detail: CritiqueRequest["detail"]): Review["outcome"] {
  return outcome === "failure" && detail === "outcome" ? "success" : "failure";
}

/** The parts to blame, in order; for a misleading critique, right ones. */
function blamedParts(parts: readonly Part[], { right, random }: CritiqueRequest): readonly Part[] {
  const apt = parts.filter((part) => part.good !== right);
  return right ? apt : shuffled(apt.length > 0 ? apt : parts, random.split("blame"));
}

/** A whole action as a part. */
export const wholeAction = (turn: number, content: string): Pick<Part, "turn" | "from" | "to"> => ({
  turn,
  from: 0,
  to: content.length,
});
