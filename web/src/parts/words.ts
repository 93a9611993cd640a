/** Numbers and times as people read them. */

/** 0.9351 → "93.5 %". */
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

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
