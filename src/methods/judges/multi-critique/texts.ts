/** Texts with planted errors, and critics that find some of them. */
import { type Random, randomStream } from "../../../core/random.ts";
import type { CritiqueUnit } from "./units.ts";

const places = 10;
const [planted, alarm, labelled] = [0.3, 0.12, 0.8] as const;

/** A critique of a text. */
export interface TextCritique {
  /** What the critic read: `s3` where place 3 looks like an error, else `n3`. */
  readonly asked: string;
  /** The places that it flags, `e3 e7`. */
  readonly replied: string;
  /** As the meta-judge labels them. */
  readonly units: readonly CritiqueUnit[];
  /** Errors found less half of the false alarms. */
  readonly worth: number;
  /** Mean worth of 32 revisions made with it, each with deviation 2. */
  readonly revised: number;
}

/**
 * Critiques of four critics on a text. Each place has an error with probability 0.3, and looks like it. A critic finds an error of kind k with its own
 * probability, drawn once between 0.1 and 0.9, and raises a false alarm at 12 % of the other places. The meta-judge labels a remark rightly with
 * probability 0.8.
 */
export function critiquesOf(seed: number, text: string | number): readonly TextCritique[] {
  const random = randomStream(seed).split("text", text);
  const errors = Array.from({ length: places }, (_, k) => random.split("error", k).next() < planted);
  const asked = errors.map((is, k) => `${is ? "s" : "n"}${k}`).join(" ");
  return Array.from({ length: 4 }, (_, critic): TextCritique => {
    const own = random.split("critic", critic);
    const finds = (k: number): number => 0.1 + 0.8 * randomStream(seed).split("finds", critic, k).next();
    const flagged = errors.flatMap((is, k) =>
      own.split("flag", k).next() < (is ? finds(k) : alarm) ? [k] : [],
    );
    const units = flagged.map((k): CritiqueUnit => {
      const rightly = own.split("label", k).next() < labelled;
      return { key: `e${k}`, accepted: errors[k]! === rightly };
    });
    const found = flagged.filter((k) => errors[k]).length;
    const worth = found - (flagged.length - found) / 2;
    return {
      asked,
      replied: units.map(({ key }) => key).join(" "),
      units,
      worth,
      revised: worth + noise(own),
    };
  });
}

const noise = (random: Random): number => (2 / Math.sqrt(32)) * random.split("revisions").normal();
