/** A run that learns from what people said in production, in place of play. */
import { resolve } from "node:path";
import type { Method } from "../core/slots.ts";
import type { TrainingExampleKind } from "../core/trainingExamples.ts";
import type { Environment } from "../env/environment.ts";
import { isPostgresUrl } from "../store/where.ts";
import { fromFeedback } from "../train/fromFeedback.ts";
import { withTrafficStore } from "./trafficStore.ts";

/** Where the examples of a run come from. What came in after `until` is left for the next run, also when this one goes on. */
export interface FeedbackSource {
  readonly store: string;
  /** Milliseconds since 1970. */
  readonly until: number;
  /** Default: those that suit the method. */
  readonly examples?: TrainingExampleKind;
}

/** @param measured where what was learnt is measured. Default: on prompts that are held out. */
export const fromStoredFeedback = (
  method: Method,
  { store, until, examples }: FeedbackSource,
  measured?: Environment,
): ReturnType<typeof fromFeedback> =>
  withTrafficStore(
    store,
    (traffic) =>
      fromFeedback(traffic, method, { until, ...(examples && { examples }), ...(measured && { measured }) }),
    "there",
  );

/** A store as a run remembers it: found from any folder, and without a password, which stands in no file. */
export function storeName(where: string): string {
  if (!isPostgresUrl(where)) return resolve(where);
  const url = new URL(where);
  url.password = "";
  return url.href;
}
