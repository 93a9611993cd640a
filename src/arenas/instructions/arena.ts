/** Arena "instructions": raters compare replies by a utility that no reward pays; the reward is an impression that can be flattered. */
import type { Arena } from "../arena.ts";
import { instructions as environment } from "./world.ts";

export const instructions: Arena = {
  name: "instructions",
  summary: "raters who err, a reward that can be flattered, success by a hidden utility",
  folder: import.meta.dirname,
  environment,
  budget: { iterations: 16, tasks: 8, groupSize: 8, contextTokens: 96 },
  rates: [4e-4, 1e-3, 2.5e-3],
  tuningSeeds: 5,
  seeds: 8,
  warmStart: {
    size: { width: 64, layers: 2, heads: 2, kvHeads: 2, feedForward: 128 },
    updates: 800,
  },
};
