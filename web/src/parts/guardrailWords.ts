/** Numbers of guardrails in the unit of their metric: rates as percentages, times as times. */
import { digits, duration } from "./words.ts";

/** Metrics that are shares, by name. */
const rates = new Set(["errors", "slow", "refusals", "flags", "feedback"]);
const units: Readonly<Record<string, string>> = { length: "characters", cost: "tokens" };

/** "4.2 %", "350 ms", "120 characters". */
export function measureWords(metric: string, value: number | null): string {
  if (value === null) return "–";
  if (rates.has(metric)) return `${digits(100 * value)} %`;
  if (metric === "latency") return value < 1000 ? `${Math.round(value)} ms` : duration(value / 1000);
  return units[metric] === undefined ? digits(value) : `${digits(value)} ${units[metric]}`;
}

/** "+0.05" of errors → "5 points above the baseline"; "x1.5" → "1.5 × the baseline". */
export function boundWords(metric: string, bound: string): string {
  const [, sign = "", number = ""] = /^([+\-x]?)([\d.]+)$/.exec(bound) ?? [];
  const value = Number(number);
  if (number === "" || Number.isNaN(value)) return bound;
  switch (sign) {
    case "x":
      return `${digits(value)} × the baseline`;
    case "+":
    case "-": {
      const more = rates.has(metric) ? pointWords(digits(100 * value)) : measureWords(metric, value);
      return `${more} ${sign === "+" ? "above" : "below"} the baseline`;
    }
    default:
      return measureWords(metric, value);
  }
}

const pointWords = (number: string): string => `${number} ${number === "1" ? "point" : "points"}`;
