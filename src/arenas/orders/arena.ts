/** Arena "orders": users who react, follow up and correct; thumbs in training, needs met on held-out orders. */
import type { Arena } from "../arena.ts";
import { orders as environment } from "./world.ts";

export const orders: Arena = {
  name: "orders",
  summary: "customers say a part, react, correct and leave; thumbs in training, needs met on held-out orders",
  folder: import.meta.dirname,
  environment,
  budget: { iterations: 16, tasks: 6, groupSize: 8, contextTokens: 96 },
  rates: [3e-4, 7e-4, 1.6e-3],
  tuningSeeds: 5,
  seeds: 8,
  warmStart: {
    size: { width: 64, layers: 2, heads: 2, kvHeads: 2, feedForward: 128 },
    updates: 300,
  },
};
