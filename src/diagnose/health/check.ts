/** One check of a run's health. Thresholds are rules of thumb: they point at what to look at and decide nothing. */
import { type Ends, endsOf } from "./curves.ts";
import type { HealthFinding, RunMeasurements } from "./measurements.ts";

export type Found = Omit<HealthFinding, "check" | "severity"> & Partial<Pick<HealthFinding, "severity">>;

export interface HealthCheck {
  readonly check: string;
  /** What it looks at, in a few words. */
  readonly title: string;
  /** @returns undefined where the run has nothing that it looks at; else what it found, which may be nothing. */
  find(run: RunMeasurements): readonly Found[] | undefined;
}

/** Iterations below which a trend is not told from chance. */
export const fewest = 8;

export const at = ({ from, until }: Pick<Ends, "from" | "until">) => ({ from, until });

/** A check of one curve. */
export const ofCurve = (
  check: string,
  title: string,
  metric: string,
  least: number,
  find: (ends: Ends, run: RunMeasurements) => Omit<Found, "metric" | "from" | "until"> | undefined,
): HealthCheck => ({
  check,
  title,
  find: (run) => {
    const ends = endsOf(run.curves[metric], least);
    if (!ends) return undefined;
    const found = find(ends, run);
    return found ? [{ ...found, metric, ...at(ends) }] : [];
  },
});

/** Whether the run's watch said that it collapsed, which one check tells and another leaves to it. */
export const watchedCollapse = ({ curves }: RunMeasurements): boolean =>
  curves["watch.collapse"]?.value.some((raised) => raised > 0) ?? false;

export const successOf = ({ curves }: RunMeasurements, least = 1): Ends | undefined =>
  endsOf(curves.success, least);
