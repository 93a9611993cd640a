/** What is common in this field and in none of the catalogue's papers: GRPO with a piece of the package in place of its own. */
import { succeeded } from "../../src/core/types.ts";
import { byProgress } from "../../src/data/byProgress.ts";
import { method, type Recipe } from "../../src/method/method.ts";
import { multiTurn } from "../../src/rollout/multiTurn.ts";
import { withReplay } from "../../src/rollout/withReplay.ts";

export const pieces: readonly Recipe[] = [
  method({
    id: "byProgress",
    family: "bench",
    summary: "a bandit over tasks that is paid by their learning progress",
    slots: ({ tasks }) => ({ data: byProgress({ tasks }) }),
  }),
  method({
    id: "withReplay",
    family: "bench",
    summary:
      "stored successes join groups that fail, the newer the likelier, and none of more than 20 iterations ago",
    slots: ({ groupSize, temperature }) => ({
      rollout: withReplay(multiTurn({ groupSize, temperature }), {
        keeps: succeeded,
        joins: (group) =>
          group.some(succeeded) ? undefined : { outcome: "success", count: 1, replaces: true },
        priority: (_attempt, age) => 1 / age,
        staleness: 20,
      }),
    }),
  }),
];
