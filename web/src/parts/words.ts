/** Numbers and times as people read them. */

/** 0.9351 → "93.5 %". */
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** 3725 → "1 h 2 min". */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** "2026-11-21T10:00:00Z" → "21 Nov, 10:00" in the reader's own time zone. */
export const moment = (iso: string): string =>
  new Date(iso).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
