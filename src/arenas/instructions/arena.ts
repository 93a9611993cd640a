/** Arena "instructions": raters compare replies by a utility that no reward pays; the reward is an impression that can be flattered. */
import type { Arena } from "../arena.ts";
import { instructions } from "./world.ts";

export const instructionsArena: Arena = {
  name: "instructions",
  summary: "replies compared by noisy raters, a reward that can be flattered, success by a hidden utility",
  folder: import.meta.dirname,
  environment: instructions,
  budget: { iterations: 16, tasks: 4, groupSize: 8, contextTokens: 96 },
  rates: [1.25e-4, 2.5e-4, 5e-4],
  tuningSeeds: 3,
  seeds: 8,
};
