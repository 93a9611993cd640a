/** The contract of evaluators: verifiers, judges, reward models and critiquers, which evaluate finished attempts. */
import type { Counter } from "./counter.ts";
import type { Critique, CritiqueRequest } from "./critique.ts";
import { isLate, isUnreachable, late, within } from "./deadline.ts";
import { isWhetstoneError, messageOf, WhetstoneError } from "./errors.ts";
import type { Model } from "./model.ts";
import type { Random } from "./random.ts";
import type { Id, ModelId, Stats, Task, Trajectory } from "./types.ts";

/** A finished trajectory with its task. */
export interface Attempt {
  readonly task: Task;
  readonly trajectory: Trajectory;
}

/** One request to an evaluator. */
export interface EvaluatorCall {
  /** Random stream of this call alone. */
  readonly random: Random;
  /** The run that asks; {@link counted} adds it. Undefined outside of a run. */
  readonly run?: EvaluatorRun | undefined;
  /** Aborted once nobody waits for the answer any longer: work that can be ended heeds it. */
  readonly signal?: AbortSignal;
}

/**
 * Evaluates finished items: attempts, or other data, such as pairs of request and reply. It has the methods for what it can
 * do. A method returns undefined where it failed; a failure is never a 0 or a tie. An evaluator does not count its calls:
 * {@link counted} does, for all of them.
 * @typeParam Item what it evaluates.
 */
export interface Evaluator<Item = Attempt> {
  /** For reports and errors. */
  readonly name: string;
  /** Its scores come from a rule and not from a model: they count as "verifier.calls", not as "judge.calls". */
  readonly verifies?: true;
  /**
   * Named scores of each item, higher is better. Where one number is needed, {@link totalScore} adds them up. Several items are
   * alternatives for one task; an evaluator may look at them together.
   */
  score?(items: readonly Item[], call: EvaluatorCall): Promise<readonly Stats[] | undefined>;
  /** Probability in [0, 1] that the first of two items is the better one; ½ for a tie. */
  compare?(first: Item, second: Item, call: EvaluatorCall): Promise<number | undefined>;
  /** Feedback in words. */
  critique?(item: Item, call: EvaluatorCall): Promise<Critique | undefined>;
  /** Evaluators of its single aspects by name, such as "tone", where it has several. Labels about one are held against it. */
  readonly aspects?: ReadonlyMap<string, Evaluator<Item>>;
}

/** What an evaluator can do. */
export type EvaluatorAbility = "score" | "compare" | "critique";

/** An evaluator with the given abilities, such as `Able<"critique">`, a critiquer. */
export type Able<Ability extends EvaluatorAbility, Item = Attempt> = Evaluator<Item> &
  Required<Pick<Evaluator<Item>, Ability>>;

/** An environment as an evaluator: its verifier scores, its judge compares, and its templates write critiques. */
export interface EnvironmentEvaluator extends Evaluator {
  /** Default: a true critique with the detail "hint". */
  critique?(
    attempt: Attempt,
    call: EvaluatorCall & Partial<Pick<CritiqueRequest, "right" | "detail">>,
  ): Promise<Critique | undefined>;
}

/** What a run offers to an evaluator. Every `Ctx` is one. */
export interface EvaluatorRun {
  count(counter: Counter, amount: number): void;
  /** Says what is wrong with an evaluator, once for each; the run goes on. */
  warn?(evaluator: string, problem: string): void;
  /** Aborts when the run is to end. */
  readonly stop?: AbortSignal;
  /** @throws WhetstoneError where the run has no model of that name. */
  model?(id?: ModelId): Model;
  /** The environment of the run. Asked directly its calls are not counted, so that an evaluator can build on it. */
  readonly environment?: EnvironmentEvaluator;
}

/** Sum of an item's named scores. */
export const totalScore = (scores: Stats): number => Object.values(scores).reduce((a, b) => a + b, 0);

/** An evaluator that scores each item by itself, with one number. */
export const scorer = <Item = Attempt>(
  name: string,
  scoreOf: (item: Item, call: EvaluatorCall) => Promise<number | undefined>,
): Able<"score", Item> => ({
  name,
  async score(items, call) {
    const scores = await Promise.all(items.map((item) => scoreOf(item, call)));
    const known = scores.filter((score) => score !== undefined);
    return known.length < items.length ? undefined : known.map((score) => ({ score }));
  },
});

/** An evaluator that compares two items by their total scores: the higher one is better, equal ones are a tie. */
export const comparingScores = <Item>(evaluator: Evaluator<Item>): Able<"compare", Item> => ({
  name: evaluator.name,
  async compare(first, second, call) {
    const scores = await able(evaluator, "score")([first, second], call);
    if (!areScores(scores, 2)) return undefined;
    const [a, b] = scores.map(totalScore) as [number, number];
    return a === b ? 0.5 : a > b ? 1 : 0;
  },
});

/** Whether an answer is one finite total for each item: evaluators are written by users too, and may answer anything. */
const areScores = (answer: unknown, items: number): answer is readonly Stats[] =>
  Array.isArray(answer) &&
  answer.length === items &&
  answer.every(
    (one: unknown) =>
      typeof one === "object" &&
      one !== null &&
      Object.values(one).every(Number.isFinite) &&
      Number.isFinite(totalScore(one as Stats)),
  );

/** How long a run waits for one answer of an evaluator: longer than any that still comes. */
export const secondsToAnswer = 900;

/**
 * Counts the calls and failures of an evaluator in the counters of a run: "judge.calls", or "verifier.calls" for a rule, and
 * "judge.failures". A failure is no answer, one that does not fit (scores that are not finite numbers, one for each item; a
 * preference outside of [0, 1]; a critique without text), none within {@link secondsToAnswer}, and an error: of a network, of a
 * provider that is gone, or of the evaluator's own code. It has no value, and the run goes on; `warn` says what only the user can fix.
 * @returns the evaluator with all methods; one that it lacks throws WhetstoneError `capability.missing`.
 * @throws what ends the run: the reason of a stop, and the other WhetstoneErrors, such as `budget.spent`.
 */
export function counted<Item>(evaluator: Evaluator<Item>, run: EvaluatorRun): Able<EvaluatorAbility, Item> {
  const { name, verifies } = evaluator;
  async function asked<T>(
    counter: Counter,
    ask: (more: Pick<EvaluatorCall, "run" | "signal">) => Promise<T | undefined>,
    fits: (answer: T) => boolean,
  ): Promise<T | undefined> {
    run.count(counter, 1);
    const unheard = new AbortController();
    try {
      const answer = await within(secondsToAnswer, ask({ run, signal: unheard.signal }));
      if (answer === late) unheard.abort(new DOMException("Nobody waits any longer.", "TimeoutError"));
      else if (answer !== undefined && fits(answer)) return answer;
      else if (answer !== undefined)
        run.warn?.(name, "it answered what does not fit, such as no finite number");
    } catch (e) {
      if (run.stop?.aborted || !isOneAnswersLoss(e)) throw e;
      const passes = isLate(e) || isUnreachable(e) || (isWhetstoneError(e) && e.code === "chat.failed");
      if (!passes) run.warn?.(name, messageOf(e));
    }
    run.count("judge.failures", 1);
    return undefined;
  }
  return {
    name,
    ...(verifies && { verifies }),
    score: async (items, call) => {
      const score = able(evaluator, "score");
      return asked(
        verifies ? "verifier.calls" : "judge.calls",
        (more) => score(items, { ...call, ...more }),
        (all) => areScores(all, items.length),
      );
    },
    compare: async (first, second, call) => {
      const compare = able(evaluator, "compare");
      return asked(
        "judge.calls",
        (more) => compare(first, second, { ...call, ...more }),
        (p) => Number.isFinite(p) && p >= 0 && p <= 1,
      );
    },
    critique: async (item, call) => {
      const critique = able(evaluator, "critique");
      return asked(
        "judge.calls",
        (more) => critique(item, { ...call, ...more }),
        (said) => typeof said?.text === "string",
      );
    },
  };
}

/** Whether an error costs one answer, and not the run: all that are not Whetstone's own, and three of those. */
const isOneAnswersLoss = (e: unknown): boolean =>
  !isWhetstoneError(e) || ["chat.failed", "provider.gone", "context.tooLong"].includes(e.code);

const doing = { score: "scores", compare: "compares", critique: "criticises" } as const;

/** The evaluator's method. @throws WhetstoneError `capability.missing` where it lacks that method. */
export function able<E extends Evaluator<never>, Ability extends EvaluatorAbility>(
  evaluator: E,
  ability: Ability,
): NonNullable<E[Ability]> {
  const method = evaluator[ability];
  if (method) return method.bind(evaluator) as NonNullable<E[Ability]>;
  throw new WhetstoneError("capability.missing", {
    where: evaluator.name,
    got: `an evaluator that has no method "${ability}"`,
    expected: `an evaluator that ${doing[ability]} attempts`,
    fix: `Choose an environment or another evaluator that ${doing[ability]} attempts, or a method that learns from something else.`,
  });
}

/** An evaluator in a run: it takes trajectories of the run, and its calls are counted. */
export interface EvaluatorInRun {
  /** The named scores of a trajectory. */
  score(trajectory: Trajectory, random: Random): Promise<Stats | undefined>;
  compare(first: Trajectory, second: Trajectory, random: Random): Promise<number | undefined>;
  /** An attempt without actions is not criticised: undefined, and not counted. */
  critique(trajectory: Trajectory, random: Random): Promise<Critique | undefined>;
}

/** {@link counted} for the trajectories of a run. */
export function evaluatorIn(
  run: EvaluatorRun & { task(id: Id): Task },
  evaluator: Evaluator,
): EvaluatorInRun {
  const { score, compare, critique } = counted(evaluator, run);
  const attempt = (trajectory: Trajectory): Attempt => ({ task: run.task(trajectory.task), trajectory });
  return {
    score: async (t, random) => (await score([attempt(t)], { random }))?.[0],
    compare: (first, second, random) => compare(attempt(first), attempt(second), { random }),
    critique: async (t, random) => (t.turns.length === 0 ? undefined : critique(attempt(t), { random })),
  };
}
