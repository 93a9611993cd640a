/** Arena "programs": short list programs for vague requests, three tries, and messages that say what is wrong. */
import type { Arena } from "../arena.ts";
import { demonstrated, listPrograms } from "./world.ts";

export const programs: Arena = {
  name: "programs",
  summary: "short list programs, three tries, each answered by a message that says what is wrong",
  folder: import.meta.dirname,
  environment: listPrograms,
  budget: { iterations: 24, tasks: 8, groupSize: 8, contextTokens: 80 },
  rates: [2e-4, 4e-4, 8e-4],
  tuningSeeds: 5,
  seeds: 8,
  warmStart: {
    size: { width: 64, layers: 2, heads: 2, kvHeads: 2, feedForward: 128 },
    updates: 220,
    environment: demonstrated,
  },
};
