/** Arena "trail": a dozen moves, each of which may be right or wrong, and one reward at the end. */
import type { Arena } from "../arena.ts";
import { trails } from "./world.ts";

export const trail: Arena = {
  name: "trail",
  summary: "seven junctions within twelve moves, one reward at the end, trails never walked before",
  folder: import.meta.dirname,
  environment: trails,
  budget: { iterations: 16, tasks: 4, groupSize: 8, contextTokens: 112 },
  rates: [2e-4, 5e-4, 1.25e-3],
  tuningSeeds: 5,
  seeds: 8,
  warmStart: { size: { width: 64, layers: 2, heads: 2, kvHeads: 2, feedForward: 128 }, updates: 160 },
};
