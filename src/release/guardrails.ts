/** Guardrails: metrics that a new version must not worsen. */

import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { ReceivedSignal, ServedResponse } from "../core/served.ts";

/** Limit of a candidate's metric: absolute, or relative to the baseline's. */
export type Bound =
  | { readonly kind: "absolute"; readonly value: number }
  /** Baseline's + value. */
  | { readonly kind: "difference"; readonly value: number }
  /** Baseline's × value. */
  | { readonly kind: "factor"; readonly value: number };

/** A metric and the bound that a candidate must keep: one that is shown to break it is rolled back. */
export interface Guardrail {
  readonly name: string;
  /** The direction of harm. */
  readonly worse: "higher" | "lower";
  readonly bound: Bound;
  /** Every number lies in 0 … most: tested exactly. Absent: unbounded, tested asymptotically. */
  readonly most?: number;
  /** Value for a unit: the mean over its responses, or one number from all of its signals. Undefined: does not apply. */
  readonly measure:
    | { readonly of: "response"; readonly value: (response: ServedResponse) => number | undefined }
    | { readonly of: "signals"; readonly value: (signals: readonly ReceivedSignal[]) => number | undefined };
}
/** A guardrail without its bound. */
export type Metric = Pick<Guardrail, "worse" | "most" | "measure">;

const ofResponse = (value: (response: ServedResponse) => number | undefined, most?: number): Metric => ({
  worse: "higher",
  measure: { of: "response", value },
  ...(most === undefined ? {} : { most }),
});
const share = (true_: boolean): number => (true_ ? 1 : 0);
const words = (response: ServedResponse): string | undefined => response.choices[0]?.message.content;

/** Matches the beginnings of English refusals. For other languages define a metric of your own. */
const refusing =
  /^\W*(i['’]?m (very |really )?sorry\b|(sorry|unfortunately)\b.{0,40}\b(can['’]?t|cannot|unable)|i (can['’]?t|cannot|won['’]?t|am unable|am not able|['’]m unable|['’]m not able)\b|as an ai\b)/i;

/** Metrics by name. */
export const metrics: Readonly<Record<string, Metric>> = {
  /** Share of calls without an answer. */
  errors: ofResponse((r) => share(r.status === "failed"), 1),
  /** Milliseconds until the last byte. */
  latency: ofResponse((r) => (r.status === "complete" ? r.ms : undefined)),
  /** Share of answers that took more than ten seconds. */
  slow: ofResponse((r) => share(r.ms > 10_000), 1),
  /** Characters (UTF-16 units) of the first reply. */
  length: ofResponse((r) => words(r)?.length),
  /** Share of replies that begin like a refusal. */
  refusals: ofResponse((r) => {
    const said = words(r);
    return said === undefined ? undefined : share(refusing.test(said));
  }, 1),
  /** Input and output tokens. */
  cost: ofResponse((r) => r.usage && r.usage.input + r.usage.output),
  /** Share of units with a non-zero signal on a channel whose name begins with "safety" or "flag". */
  flags: {
    worse: "higher",
    most: 1,
    measure: {
      of: "signals",
      value: (signals) => share(signals.some((s) => /^(safety|flag)/.test(s.channel) && s.value !== 0)),
    },
  },
  /** Share of units with any signal. */
  feedback: {
    worse: "lower",
    most: 1,
    measure: { of: "signals", value: (signals) => share(signals.length > 0) },
  },
};

/** Limits: errors and refusals +5 points, latency × 1.5, length × 2, flags +1 point. */
export const defaultGuardrails: readonly Guardrail[] = [
  "errors=+0.05",
  "latency=x1.5",
  "length=x2",
  "refusals=+0.05",
  "flags=+0.01",
].map(readGuardrail);

/**
 * `errors=0.02` (at most 2 %), `errors=+0.02` (2 points above the baseline's), `latency=x1.5`, `feedback=x0.5` (at least half
 * of the baseline's).
 * @throws WhetstoneError `option.range`, `name.unknown`.
 */
export function readGuardrail(text: string): Guardrail {
  const [, name = "", sign = "", number = ""] = /^([\w.]+)=([+x-]?)(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (name === "") {
    throw new WhetstoneError("option.range", {
      where: "guardrail",
      got: text,
      expected: "a metric and its limit, such as errors=0.02, errors=+0.02 or latency=x1.5",
      fix: "Write +0.02 for points above the baseline, x1.5 for a multiple of it, or a bare number for a fixed limit.",
    });
  }
  const metric = Object.hasOwn(metrics, name) ? metrics[name] : undefined;
  if (!metric) throw unknownName("guardrail", name, Object.keys(metrics));
  const value = sign === "-" ? -Number(number) : Number(number);
  const kind = sign === "" ? "absolute" : sign === "x" ? "factor" : "difference";
  return { name, ...metric, bound: { kind, value } };
}

/** `errors=+0.02`: what {@link readGuardrail} reads. */
export function sayBound({ kind, value }: Bound): string {
  if (kind === "absolute") return `${value}`;
  return kind === "factor" ? `x${value}` : `${value < 0 ? "" : "+"}${value}`;
}
