/** Evolution of the library that a frozen judge goes by, against a few labelled pairs. */
import type { Random } from "../../core/random.ts";
import { editedLibrary, type RubricEdit, type RubricJudge, type RubricLibrary } from "../../core/rubrics.ts";
import { accuracyOf, type LabelledPair, type Verdict, verdictsOn } from "./orders.ts";
import { quotes } from "./quotes.ts";

/** A library that was deployed, or given up: what it was measured at, and how it came about. */
export interface Snapshot {
  readonly library: RubricLibrary;
  /** Accuracy on the validation pairs, in [0, 1]. */
  readonly accuracy: number;
  readonly why: string;
}

/** Where an evolution stands. Plain data. */
export interface Evolution {
  readonly current: Snapshot;
  /** What is deployed: the snapshot of highest accuracy, the earliest of equals. */
  readonly best: Snapshot;
  /** Accepted versions in their order, the first one included. */
  readonly versions: readonly Snapshot[];
  readonly iteration: number;
}

/** What proposes edits: it sees how the judge did on the training pairs. Fewer or none may come. */
export type Proposer<Item> = (wish: {
  readonly library: RubricLibrary;
  readonly verdicts: readonly Verdict<Item>[];
  readonly random: Random;
}) => Promise<readonly RubricEdit[]>;

/** Settings of {@link evolved}. */
export interface EvolutionOptions<Item> {
  readonly judge: RubricJudge<Item>;
  readonly propose: Proposer<Item>;
  /**
   * m, how far the accuracy on validation pairs may fall in one edit. 0 is strict, below 0 it must rise; Infinity keeps
   * everything. Default 0.075.
   */
  readonly margin?: number;
  /** P, iterations between prunings; 0 for none. Default 50. */
  readonly prune?: number;
  /** Whether an analyser's prompt works at all; an edit with one that does not is refused. Default: it does. */
  readonly smoke?: (prompt: string) => Promise<boolean>;
  /** Words of an item: edits that quote six of them in a row, in its order, are refused. Default: nothing is looked at. */
  readonly describe?: (item: Item) => string;
}

/** @returns an evolution that begins with this library. */
export async function begun<Item>(
  library: RubricLibrary,
  validation: readonly LabelledPair<Item>[],
  { judge }: Pick<EvolutionOptions<Item>, "judge">,
): Promise<Evolution> {
  const accuracy = accuracyOf(await verdictsOn(judge, library, validation));
  const first: Snapshot = { library, accuracy, why: "the first" };
  return { current: first, best: first, versions: [first], iteration: 0 };
}

/**
 * One iteration: the judge is run on training pairs, edits are proposed and carried out, and the result is kept where its
 * accuracy on validation pairs is not too far below; else the snapshot of before is restored. Every P iterations each
 * rubric without which the judge is as good is taken out, one after the other.
 *
 *     keep L'  ⇔  acc(L') ≥ acc(L) − m
 *     best = argmax acc over all that were kept
 *
 * Every pair is judged in both orders. Edits that cannot be carried out, whose analyser does not work, or that quote an
 * item of the training pairs are left out; where none is left nothing is measured.
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
    accuracy: accuracyOf(await verdictsOn(judge, changed, validation)),
    why,
  });
  const verdicts = await verdictsOn(judge, library, train);
  const proposed = await propose({ library, verdicts, random });
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

/** The library after all edits that may be carried out, and what was done. */
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
