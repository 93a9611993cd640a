import { WhetstoneError } from "../core/errors.ts";

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** @example seconds("--budget", "10m") // 600 */
export function seconds(where: string, text: string): number {
  const bare = text.replaceAll(" ", "");
  if (/^(\d+(\.\d+)?[smhd])+$/.test(bare)) {
    const parts = bare.matchAll(/([\d.]+)([smhd])/g);
    const total = parts.reduce((sum, [, n, unit]) => sum + Number(n) * units[unit!]!, 0);
    if (total > 0) return total;
  }
  throw new WhetstoneError("option.range", {
    where,
    got: `"${text}"`,
    expected: "a duration such as 90s, 10m, 1h30m or 30d",
    fix: "Write a number and its unit.",
  });
}

/** Milliseconds since 1970 of a date, a time, or an age before now. @example timeOf("--since", "30d", Date.now()) */
export function timeOf(where: string, text: string, now: number): number {
  if (/^\d+[a-z]+$/.test(text)) return now - 1000 * seconds(where, text);
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (time <= now) return time;
  throw new WhetstoneError("option.range", {
    where,
    got: `"${text}"`,
    expected: "a past date such as 2026-01-01, a past time such as 2026-01-01T12:00Z, or an age such as 90d",
    fix: "Correct it.",
  });
}
