/** A run that learns from what people said in production, in place of play. */
import { resolve } from "node:path";
import { WhetstoneError } from "../core/errors.ts";
import type { Method } from "../core/slots.ts";
import type { TrainingExample, TrainingExampleKind } from "../core/trainingExamples.ts";
import type { Environment } from "../env/environment.ts";
import { loggedPrompts } from "../env/loggedPrompts.ts";
import { trainingExamplesFrom } from "../exchange/derived.ts";
import { isPostgresUrl } from "../store/where.ts";
import { exampleKindFor, fromExamples } from "../train/fromExamples.ts";
import { withTrafficStore } from "./trafficStore.ts";

/** Where the examples of a run come from. What came in after `until` is left for the next run, also when this one goes on. */
export interface FeedbackSource {
  readonly store: string;
  /** Milliseconds since 1970. */
  readonly until: number;
  /** Default: those that suit the method. */
  readonly examples?: TrainingExampleKind;
}

/**
 * The method with its play replaced by examples, and the prompts of these as an environment.
 * @param measured where what was learnt is measured. Default: on prompts that are held out.
 * @throws WhetstoneError `task.none` where there is nothing to learn from.
 */
export async function fromFeedback(
  method: Method,
  { store, until, examples: stated }: FeedbackSource,
  measured?: Environment,
): Promise<{ readonly method: Method; readonly environment: Environment }> {
  const kind = stated ?? exampleKindFor(method);
  const examples = await withTrafficStore(
    store,
    async (production) => {
      const found: TrainingExample[] = [];
      for await (const made of trainingExamplesFrom(production, { until, receivedUntil: until, kinds: [kind], silent: false })) {
        if (made.kind === kind && isHeard(made)) found.push(made);
      }
      return found;
    },
    "there",
  );
  if (examples.length === 0) {
    throw new WhetstoneError("task.none", {
      where: `--from-feedback ${store}`,
      got: `no examples of the kind "${kind}"`,
      expected: `what method "${method.id}" learns from`,
      fix: "Choose another kind with --examples, or another method; docs/data.md says what each kind is made from.",
    });
  }
  return {
    method: fromExamples(method, examples, { kind }),
    environment: loggedPrompts(examples, measured ? { measured } : {}),
  };
}

/** Of a conversation that nobody said anything of, nothing is learnt. */
const isHeard = (example: TrainingExample): boolean =>
  example.kind !== "conversation" || example.logged.signals.length > 0;

/** A store as a run remembers it: found from any folder, and without a password, which stands in no file. */
export function storeName(where: string): string {
  if (!isPostgresUrl(where)) return resolve(where);
  const url = new URL(where);
  url.password = "";
  return url.href;
}
