/** Numbers in JSON. */
import type { Interval } from "../../core/interval.ts";
import type { Range, Value } from "./types.ts";

export const json = (x: number): Value => (Number.isFinite(x) ? x : null);

export const range = ({ mean, low, high, n }: Interval): Range => ({
  mean: json(mean),
  low: json(low),
  high: json(high),
  n,
});
