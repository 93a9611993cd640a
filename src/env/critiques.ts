/** Templates that critiques come from, true or misleading: what environments that criticise share. */
import type { Critique, CritiqueWish } from "../core/critique.ts";
import { shuffled } from "../core/random.ts";

/** A part of an attempt that is right or wrong by itself: an action, or a word of one. */
export interface Part {
  readonly turn: number;
  /** Characters [from, to) of the turn's action. */
  readonly from: number;
  readonly to: number;
  readonly good: boolean;
  /** What it is called, e.g. "step 2"; "" where there is no other. */
  readonly name: string;
  /** What would have been right there. */
  readonly better: string;
  /** What would have been wrong there. */
  readonly worse: readonly string[];
}

/** What an environment knows about an attempt. */
export interface Review {
  readonly verdict: NonNullable<Critique["verdict"]>;
  readonly parts: readonly Part[];
}

const spoken = { success: "right", inefficient: "right but too long", failure: "wrong" } as const;

/** Every word of the templates but those of names and remedies, and numbers up to `steps`. */
export const critiqueWords = (steps: number): readonly string[] => [
  ...Object.values(spoken),
  "at : ,",
  ...Array.from({ length: steps }, (_, k) => `step ${k + 1}`),
];

/**
 * A review in words.
 *
 *     "verdict"   wrong
 *     "hint"      wrong at step 2                         the first wrong part
 *     "answer"    wrong at step 2 : go north              the first wrong parts, each with what would have been right
 *
 * A misleading one blames parts that were right, or any where there are none, and names what would have been wrong; see {@link CritiqueWish}. Marks and the turn come with a hint.
 * @param remedies at how many parts an answer helps. Default 1.
 */
export function templated(review: Review, wish: CritiqueWish, remedies = 1): Critique {
  const { right, detail, random } = wish;
  const verdict = right ? review.verdict : misled(review.verdict, detail);
  if (detail === "verdict") return { text: spoken[verdict], verdict };
  const marks = review.parts
    .filter(({ from, to }) => to > from)
    .map(({ turn, from, to, good }) => ({ turn, from, to, good: good === right }));
  const blamed = blamedParts(review.parts, wish).slice(0, detail === "answer" ? remedies : 1);
  const first = blamed[0];
  if (verdict === "success" || !first) return { text: spoken[verdict], verdict, marks };
  const said = blamed.map((part) => {
    const name = part.name === "" ? "" : ` at ${part.name}`;
    if (detail === "hint") return name;
    const wrong = part.worse[random.split("remedy", part.turn, part.from).below(part.worse.length)];
    return `${name} : ${right ? part.better : (wrong ?? part.better)}`;
  });
  return { text: `${spoken[verdict]}${said.join(" ,")}`, verdict, turn: first.turn, marks };
}

function misled(verdict: Review["verdict"], detail: CritiqueWish["detail"]): Review["verdict"] {
  return verdict === "failure" && detail === "verdict" ? "success" : "failure";
}

/** The parts to blame, in their order; a misleading critique blames any of the right ones. */
function blamedParts(parts: readonly Part[], { right, random }: CritiqueWish): readonly Part[] {
  const apt = parts.filter((part) => part.good !== right);
  return right ? apt : shuffled(apt.length > 0 ? apt : parts, random.split("blame"));
}

/** A whole action as a part. */
export const wholeAction = (turn: number, content: string): Pick<Part, "turn" | "from" | "to"> => ({
  turn,
  from: 0,
  to: content.length,
});
