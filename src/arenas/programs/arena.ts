/** Arena "programs": short list programs for vague requests, three tries, and messages that say what is wrong. */
import type { Arena } from "../arena.ts";
import { programs } from "./world.ts";

export const programsArena: Arena = {
  name: "programs",
  summary: "short list programs, three tries, each answered by a message that says what is wrong, held-out programs",
  folder: import.meta.dirname,
  environment: programs,
  budget: { iterations: 16, tasks: 4, groupSize: 8, contextTokens: 112 },
  rates: [1.25e-4, 2.5e-4, 5e-4],
  tuningSeeds: 5,
  seeds: 8,
};
