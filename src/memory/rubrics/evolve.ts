/** Evolution of a frozen judge's rubric library, against a few labelled pairs. */
import type { Random } from "../../core/random.ts";
import { editedLibrary, type RubricEdit, type RubricJudge, type RubricLibrary } from "../../core/rubrics.ts";
import { accuracyOf, type JudgedPair, judgedPairs, type LabelledPair } from "./orders.ts";
import { quotes } from "./quotes.ts";

/** A library with its accuracy and the reason for it. */
export interface Snapshot {
  readonly library: RubricLibrary;
  /** Accuracy on the validation pairs, in [0, 1]. */
  readonly accuracy: number;
  readonly why: string;
}

/** State of an evolution. Plain data. */
export interface Evolution {
  readonly current: Snapshot;
  /** The snapshot to deploy: the one with the highest accuracy, the earliest among equals. */
  readonly best: Snapshot;
  /** Accepted versions in order, including the first. */
  readonly versions: readonly Snapshot[];
  readonly iteration: number;
}

/** Proposes edits from the judge's results on the training pairs. May return none. */
export type Proposer<Item> = (wish: {
  readonly library: RubricLibrary;
  readonly judged: readonly JudgedPair<Item>[];
  readonly random: Random;
}) => Promise<readonly RubricEdit[]>;

/** Settings of {@link evolved}. */
export interface EvolutionOptions<Item> {
  readonly judge: RubricJudge<Item>;
  readonly propose: Proposer<Item>;
  /**
   * m, the tolerated drop in validation accuracy per edit. 0 allows no drop, below 0 requires a rise, Infinity keeps every
   * edit. Default 0.075.
   */
  readonly margin?: number;
  /** P, iterations between prunings; 0 for none. Default 50. */
  readonly prune?: number;
  /** Smoke test of an analyser's prompt; an edit with a failing one is refused. Default: none. */
  readonly smoke?: (prompt: string) => Promise<boolean>;
  /** Text of an item: edits that quote six consecutive words of it are refused. Default: no check. */
  readonly describe?: (item: Item) => string;
}

/** @returns a new evolution that starts with this library. */
export async function begun<Item>(
  library: RubricLibrary,
  validation: readonly LabelledPair<Item>[],
  { judge }: Pick<EvolutionOptions<Item>, "judge">,
): Promise<Evolution> {
  const accuracy = accuracyOf(await judgedPairs(judge(library), validation));
  const first: Snapshot = { library, accuracy, why: "the first" };
  return { current: first, best: first, versions: [first], iteration: 0 };
}

/**
 * One iteration: the judge rates training pairs, edits are proposed and applied, and the result is kept where its validation
 * accuracy drops by at most m; otherwise the previous snapshot is restored. Every P iterations, rubrics without which the
 * judge is as accurate are removed, one after the other.
 *
 *     keep L'  ⇔  acc(L') ≥ acc(L) − m
 *     best = argmax acc over all that were kept
 *
 * Every pair is judged in both orders. Edits that cannot be applied, whose analyser fails the smoke test, or that quote an
 * item of the training pairs are dropped; where none is left, nothing is measured.
 * Paper: "RewardHarness: Self-Evolving Agentic Post-Training".
 */
export async function evolved<Item>(
  before: Evolution,
  train: readonly LabelledPair<Item>[],
  validation: readonly LabelledPair<Item>[],
  options: EvolutionOptions<Item>,
  random: Random,
): Promise<Evolution> {
  const { judge, propose, margin = 0.075, prune = 50 } = options;
  const { library } = before.current;
  const iteration = before.iteration + 1;
  const measured = async (changed: RubricLibrary, why: string): Promise<Snapshot> => ({
    library: changed,
    accuracy: accuracyOf(await judgedPairs(judge(changed), validation)),
    why,
  });
  const judged = await judgedPairs(judge(library), train);
  const proposed = await propose({ library, judged, random });
  let after: Evolution = { ...before, iteration };
  const { changed, why } = await carriedOut(library, proposed, train, options);
  if (why.length > 0) {
    const candidate = await measured(changed, why.join("; "));
    if (candidate.accuracy >= before.current.accuracy - margin) after = accepted(after, candidate);
  }
  if (prune === 0 || iteration % prune !== 0) return after;
  for (const { id } of after.current.library.rubrics) {
    const without = editedLibrary(after.current.library, { kind: "delete", id });
    if (!without) continue;
    const candidate = await measured(without, `without ${id}, as good`);
    if (candidate.accuracy >= after.current.accuracy) after = accepted(after, candidate);
  }
  return after;
}

const accepted = (evolution: Evolution, snapshot: Snapshot): Evolution => ({
  ...evolution,
  current: snapshot,
  best: snapshot.accuracy > evolution.best.accuracy ? snapshot : evolution.best,
  versions: [...evolution.versions, snapshot],
});

/** The library after all permitted edits, and a description of them. */
async function carriedOut<Item>(
  library: RubricLibrary,
  edits: readonly RubricEdit[],
  train: readonly LabelledPair<Item>[],
  { smoke, describe }: EvolutionOptions<Item>,
): Promise<{ readonly changed: RubricLibrary; readonly why: readonly string[] }> {
  const items = describe ? train.flatMap(({ better, worse }) => [describe(better), describe(worse)]) : [];
  let changed = library;
  const why: string[] = [];
  for (const edit of edits) {
    const next = editedLibrary(changed, edit);
    const id = edit.kind === "add" ? edit.rubric.id : edit.id;
    const written = next?.rubrics.find((rubric) => rubric.id === id);
    if (!next || (written && items.some((item) => quotes(written.text, item)))) continue;
    if (written?.kind === "tool" && smoke && !(await smoke(written.text))) continue;
    changed = next;
    why.push(`${edit.kind} ${id}`);
  }
  return { changed, why };
}
