/** What a key may spend. */
export interface Budget {
  /** Dollars. */
  readonly usd: number;
  /** In which time; days and months are those of UTC. */
  readonly per: "day" | "month" | "ever";
}

/** Names of the periods. */
export const periods = ["day", "month", "ever"] as const satisfies readonly Budget["per"][];

/** When the period began that `now` is in; both in milliseconds since 1970. */
export function periodStart({ per }: Budget, now: number): number {
  const date = new Date(now);
  if (per === "ever") return 0;
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), per === "day" ? date.getUTCDate() : 1);
}

/** When the next period begins; undefined where there is none. */
export function periodEnd({ per }: Budget, now: number): number | undefined {
  const date = new Date(now);
  if (per === "ever") return undefined;
  const [month, day] = per === "day" ? [0, date.getUTCDate() + 1] : [1, 1];
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + month, day);
}
