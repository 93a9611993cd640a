/** Trains on recorded production feedback instead of playing episodes. */
import { counted } from "../common/text/counted.ts";
import { WhetstoneError } from "../core/errors.ts";
import { objectOf } from "../core/json.ts";
import type { Method } from "../core/slots.ts";
import type { TrainingExample, TrainingExampleKind } from "../core/trainingExamples.ts";
import type { Environment } from "../env/environment.ts";
import { loggedPrompts } from "../env/loggedPrompts.ts";
import { type Answers, trainingExamplesFrom } from "../exchange/derived.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import type { RunEvent } from "./events.ts";
import { readRunConfig } from "./folder.ts";
import { examplesFor, fromExamples } from "./fromExamples.ts";
import { type RunOptions, type RunSummary, train } from "./run.ts";

/** Which feedback a run learns from. */
export interface FeedbackOptions {
  /** Kind of training examples. Default: the one that the method declares. */
  readonly examples?: TrainingExampleKind;
  /** Only traffic and feedback before this time, in milliseconds since 1970. Default: all. */
  readonly until?: number;
  /** Environment for evaluation. Default: held-out prompts of the traffic. */
  readonly measured?: Environment;
}

/**
 * The method with its play replaced by training examples from the store, and their prompts as an environment.
 * @throws WhetstoneError `task.none` if the store has no example of that kind; `config.invalid` for a method whose phases
 *   change the rollout or the feedback.
 */
export async function fromFeedback(
  traffic: Answers & Pick<TrafficStore, "where">,
  method: Method,
  options: FeedbackOptions = {},
): Promise<{ readonly method: Method; readonly environment: Environment }> {
  const { measured, until } = options;
  const kind = options.examples ?? method.learnsFrom?.kind ?? "conversation";
  const before = until === undefined ? {} : { until, receivedUntil: until };
  const found: TrainingExample[] = [];
  // conversations without feedback give no training signal
  for await (const made of trainingExamplesFrom(traffic, { ...before, kinds: [kind], silent: false })) {
    if (made.kind !== "dropped") found.push(made);
  }
  const examples = examplesFor(method, found);
  if (examples.length === 0) {
    throw new WhetstoneError("task.none", {
      where: `store ${traffic.where}`,
      got:
        found.length > 0
          ? `${counted(found.length, `example`)} of the kind "${kind}", of which none says what to imitate`
          : `no examples of the kind "${kind}"`,
      expected: `training examples for method "${method.id}"`,
      fix: "Choose another kind of examples (--examples), or another method; docs/data.md says what each kind is made from.",
    });
  }
  return {
    method: fromExamples(method, found, { kind }),
    environment: loggedPrompts(examples, { known: found, ...(measured && { measured }) }),
  };
}

/** Settings of {@link trainFromFeedback}. */
export interface TrainFromFeedbackOptions extends Omit<RunOptions, "environment">, FeedbackOptions {}

/**
 * Trains on the feedback in a traffic store and saves the run in `out`, as {@link train} does. Feedback that arrives after
 * the start is left for the next run, also if this one is resumed. The store stays open.
 * @throws WhetstoneError as {@link fromFeedback} and {@link train}.
 * @example
 * const traffic = await openTrafficStore("runs/whetstone.sqlite");
 * await trainFromFeedback(traffic, { method: dpo.build({}, { imitation: 1 }), engine: localEngine(), out: "runs/dpo" });
 */
export async function trainFromFeedback(
  traffic: TrafficStore,
  { examples, until: stated, measured, ...options }: TrainFromFeedbackOptions,
  report: (event: RunEvent) => void = () => {},
  stop: AbortSignal = new AbortController().signal,
): Promise<RunSummary> {
  const until = (await untilOf(options)) ?? stated ?? Date.now();
  const chosen = { until, ...(examples && { examples }) };
  const { method, environment } = await fromFeedback(traffic, options.method, {
    ...chosen,
    ...(measured && { measured }),
  });
  const feedback = { store: traffic.where, ...chosen, measured: measured?.name ?? "" };
  const parts = { ...objectOf(options.parts), feedback };
  return train({ ...options, method, environment, parts }, report, stop);
}

/** Of a run that is resumed, the time until which it took feedback. */
async function untilOf({ resume, out }: Pick<RunOptions, "resume" | "out">): Promise<number | undefined> {
  if (!resume || out === undefined) return undefined;
  const begun = await readRunConfig(out);
  const until = objectOf(objectOf(begun?.parts)?.feedback)?.until;
  return typeof until === "number" ? until : undefined;
}
