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
    mend: "Write a number and its unit.",
  });
}
