import assert from "node:assert/strict";
import { test } from "node:test";
import { settings } from "../../../../test/method/objective/preferences.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { annotated } from "./annotated.ts";
import { seppo } from "./method.ts";

test("seppo learns what was shown, with a pool that is smaller than the run is long", async () => {
  const environment = annotated({ questions: 6, topics: 2, replies: 4 });
  const { curve } = await trainInMemory({
    environment,
    method: seppo.build({ ...settings, tasks: 6, groupSize: 1 }),
    engine: tabularEngine({
      context: 3,
      prior: (context, word) => {
        const said = /^a\d+$/.test(context.at(-1) ?? "");
        return (said ? word === "<end>" : /^a\d+$/.test(word)) ? 0 : -1e9;
      },
    }),
    seed: 1,
    iterations: 12,
  });
  const reward = (part: typeof curve): number => part.reduce((sum, m) => sum + m.reward! / part.length, 0);
  assert.ok(reward(curve.slice(-4)) > reward(curve.slice(0, 4)) + 0.2);
});
