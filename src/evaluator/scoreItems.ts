/** Scores many items by one judge, or by several together. */
import type { Evaluator } from "../core/evaluator.ts";
import type { Random } from "../core/random.ts";
import { type EnsembleRule, ensembleCall } from "./ensemble.ts";
import { type AskJudge, type JudgeCall, scoreOf } from "./judgeCall.ts";
import type { JudgedItem } from "./judgedItem.ts";

/** An item to be scored. */
export interface NamedItem {
  /** Unique among the items. */
  readonly id: string;
  readonly item: JudgedItem;
}

/** The score of an item, and the call of each judge, in the order of the judges. */
export interface ScoredItem {
  readonly id: string;
  /** Its value is the score. */
  readonly together: JudgeCall;
  readonly each: readonly JudgeCall[];
  /** The score of each aspect, of a single judge that has several; null without an answer. */
  readonly aspects?: Readonly<Record<string, number | null>>;
}

/** Settings of {@link scoreItems}. */
export interface ScoreOptions {
  readonly random: Random;
  readonly rule: EnsembleRule;
  readonly call: AskJudge;
  /** Most items at the same time. */
  readonly most: number;
  /** After each item; the next one waits for it. */
  readonly onScore: (scored: ScoredItem) => Promise<void>;
}

/**
 * Asks each judge about each item. What an item is asked with depends on its id alone, so that a part of the work can be done later.
 * @throws what reading the items or `onScore` throws, and the reason of a stop, once no call is running.
 */
export async function scoreItems(
  judges: readonly Evaluator<JudgedItem>[],
  items: AsyncIterable<NamedItem>,
  { random, rule, call, most, onScore }: ScoreOptions,
): Promise<void> {
  const running = new Set<Promise<void>>();
  let broken: { readonly by: unknown } | undefined;
  const one = async ({ id, item }: NamedItem): Promise<void> => {
    const asked = (judge: Evaluator<JudgedItem>, at: number): Promise<JudgeCall> =>
      call((signal) => scoreOf(judge, item, { random: random.split(id, at), signal }), Number.isFinite);
    const each = await Promise.all(judges.map(asked));
    const together = each.length === 1 ? each[0]! : ensembleCall(each, rule);
    const heads = judges.length === 1 ? [...(judges[0]!.aspects ?? [])] : [];
    const said = heads.length > 1 ? await Promise.all(heads.map(([, head]) => asked(head, 0))) : [];
    const aspects = heads.map(([name], h) => [name, said[h]?.value ?? null] as const);
    await onScore({ id, each, together, ...(said.length > 0 && { aspects: Object.fromEntries(aspects) }) });
  };
  try {
    for await (const named of items) {
      const work: Promise<void> = one(named)
        .catch((e: unknown) => {
          broken ??= { by: e };
        })
        .finally(() => running.delete(work));
      running.add(work);
      if (running.size >= most) await Promise.race(running);
      if (broken) break;
    }
  } finally {
    await Promise.all(running);
  }
  if (broken) throw broken.by;
}
