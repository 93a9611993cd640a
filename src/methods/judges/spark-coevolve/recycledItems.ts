import { type Random, shuffled } from "../../../core/random.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";

/** A prompt that a batch of attempts is recycled into. */
export type RecycledItem =
  /** Is this attempt right? */
  | { readonly kind: "single"; readonly about: Trajectory }
  /** Which of two is right, this one (A) or the other (B)? Exactly one is. */
  | { readonly kind: "pair"; readonly about: Trajectory; readonly other: Trajectory }
  /** Revise a wrong attempt, of which the last action is shown, or all of them. */
  | { readonly kind: "repair"; readonly about: Trajectory; readonly whole: boolean };

/** Settings of {@link recycledItems}. */
export interface RecycledItemsOptions {
  /** Probability that a group with right and wrong attempts is asked about one of them, and not about a pair. */
  readonly single: number;
  /** Largest number of prompts to judge, and of prompts to repair. */
  readonly most: number;
}

/**
 * One prompt to judge for each group of attempts, and one to repair for each group with a wrong one:
 *
 *     all right             its first attempt, alone
 *     all wrong             one at random, alone
 *     both                  alone with probability p, right or wrong with ½ each, else one right and one wrong in random order
 *     any wrong             one of those at random, to be repaired; half of them with everything that was said
 *
 * Attempts without a word are not shown. Beyond `most`, prompts are dropped at random.
 * Paper: "SPARK: Synergistic Policy And Reward Co-Evolving Framework".
 */
export function recycledItems(
  groups: readonly (readonly Trajectory[])[],
  { single, most }: RecycledItemsOptions,
  random: Random,
): readonly RecycledItem[] {
  const judged: RecycledItem[] = [];
  const repaired: RecycledItem[] = [];
  for (const [g, group] of groups.entries()) {
    const own = random.split("group", g);
    const said = group.filter(({ turns }) => (turns.at(-1)?.action.content.trim() ?? "") !== "");
    const right = said.filter(succeeded);
    const wrong = shuffled(
      said.filter((t) => !succeeded(t)),
      own.split("wrong"),
    );
    const item = judging(right, wrong, single, own);
    if (item) judged.push(item);
    const [about] = shuffled(wrong, own.split("repair"));
    if (about) repaired.push({ kind: "repair", about, whole: own.split("whole").next() < 0.5 });
  }
  const some = (items: readonly RecycledItem[], what: string): readonly RecycledItem[] =>
    shuffled(items, random.split("most", what)).slice(0, most);
  return [...some(judged, "judged"), ...some(repaired, "repaired")];
}

/** @param wrong in random order. */
function judging(
  right: readonly Trajectory[],
  wrong: readonly Trajectory[],
  single: number,
  random: Random,
): RecycledItem | undefined {
  const [bad] = wrong;
  const [first] = right;
  if (!first || !bad) {
    const about = first ?? bad;
    return about && { kind: "single", about };
  }
  const good = right[random.split("right").below(right.length)]!;
  const coin = random.split("order").next() < 0.5;
  if (random.split("single").next() < single) return { kind: "single", about: coin ? good : bad };
  return { kind: "pair", about: coin ? good : bad, other: coin ? bad : good };
}
