/** Numbers and times as people read them. */
import type { ComparedGroup, Range } from "../../../src/serve/dashboard/types.ts";

/** A group's method; with what tells it from others of that method beside it. */
export function groupName(group: ComparedGroup, among: readonly ComparedGroup[]): string {
  const { env, method, engine, staleness, differs } = group;
  const alike = among.filter((other) => other.env === env && other.method === method);
  if (alike.length === 1) return method;
  return [
    method,
    engine,
    ...(staleness > 0 ? [`staleness ${staleness}`] : []),
    ...(differs ? [differs] : []),
  ].join(", ");
}

export const groupKey = ({ env, method, engine, staleness, differs = "" }: ComparedGroup): string =>
  `${env} ${method} ${engine} ${staleness} ${differs}`;

/** 0.9351 → "93.5 %". */
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** 0.255 → "+25.5": of a difference of shares, in percentage points. */
export const points = (difference: number): string =>
  `${difference > 0 ? "+" : difference < 0 ? "−" : ""}${(100 * Math.abs(difference)).toFixed(1)}`;

/** "[29.2, 42.3]": the interval of a share in per cent, beside a share that says so; within what a share can be; empty where it has none. */
export function shareRange({ low, high }: Pick<Range, "low" | "high">): string {
  if (low === null || high === null) return "";
  const within = (x: number): string => (100 * Math.min(1, Math.max(0, x))).toFixed(1);
  return `[${within(low)}, ${within(high)}]`;
}

/** 3725 → "1 h 2 min". */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Made once: to make one takes longer than to use it on a whole table. */
const moments = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** 0.00123 → "$0.0012", 12.3 → "$12.30": two digits of what is less than a cent. */
export const dollars = (usd: number): string =>
  `$${usd === 0 || usd >= 0.01 ? usd.toFixed(2) : usd.toLocaleString("en-GB", { maximumSignificantDigits: 2, useGrouping: false })}`;

/** "2026-11-21T10:00:00Z" → "21 Nov, 10:00" in the reader's own time zone. */
export const moment = (iso: string): string => moments.format(new Date(iso));

/** Three significant digits, without a tail of zeros: 0.00123, 12.3, 12300, 1.2e-7. */
export function digits(x: number): string {
  if (x === 0) return "0";
  const size = Math.abs(x);
  return size >= 1e6 || size < 1e-4
    ? x.toExponential(1).replace("e+", "e")
    : String(Number(x.toPrecision(3)));
}
