/** What a chart's lines are, with their values where the pointer is, and their last ones while it is elsewhere. */
import type { Signal } from "@preact/signals";
import type { Line } from "./chart.tsx";
import { lineInks } from "./ink.ts";

interface LegendProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly hovered: Signal<number | undefined>;
  readonly words: (value: number) => string;
}

/** Drawn anew when the pointer moves, unlike the chart. */
export function Legend({ title, lines, hovered, words }: LegendProps) {
  const at = hovered.value;
  const alone = lines.length === 1 && lines[0]?.name === title.toLowerCase();
  return (
    <p class="legend" aria-hidden="true">
      {lines.map(({ name, values, range, marked }, i) => {
        const index = at ?? values.findLastIndex((value) => value !== null);
        const value = values[index] ?? null;
        return (
          <span key={name} class="entry">
            <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
              <rect width="10" height="10" rx="2" fill={`var(${lineInks[i % lineInks.length]})`} />
            </svg>
            {!alone && <span class="faint">{name} </span>}
            <b>{value === null ? "–" : words(value)}</b>
            {marked && interval(range?.low[index], range?.high[index], words)}
          </span>
        );
      })}
    </p>
  );
}

/** Where the values of the legend stand. */
export function At({ x, hovered }: Pick<LegendProps, "hovered"> & { readonly x: readonly number[] }) {
  const at = hovered.value;
  return (
    <span class="at faint" aria-hidden="true">
      {x.length === 0 ? "" : at === undefined ? "last" : `at ${x[at]}`}
    </span>
  );
}

/** Ends of an interval, where it has them. */
function interval(
  low: number | null | undefined,
  high: number | null | undefined,
  words: (value: number) => string,
) {
  if (low == null || high == null) return null;
  return (
    <span class="faint">
      {" "}
      {words(low)} to {words(high)}
    </span>
  );
}
