// A method of one's own, trained on a two-armed bandit with exact softmax policies. Seed 1, under 3 s.
// Expect: success (the better arm) from about 0.5 to above 0.9.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leaveOneOut } from "../src/advantage/index.ts";
import { bandit, method, tabularEngine, train } from "../src/index.ts";
import { entropyBonus, policyGradient } from "../src/objective/index.ts";

// What it changes against the GRPO baseline, and nothing else: another baseline for the advantage, and two losses.
const exploring = method({
  id: "exploring",
  family: "example",
  summary: "leave-one-out advantages with an entropy bonus",
  needs: ["entropy"],
  defaults: { minibatches: 1 },
  slots: { advantage: leaveOneOut(), objective: [policyGradient(), entropyBonus({ coefficient: 0.02 })] },
});

const engine = tabularEngine();
const done = await train(
  {
    environment: bandit(),
    method: exploring.build({ learningRate: 0.1, tasks: 8, groupSize: 8 }),
    engine,
    seed: 1,
    iterations: 60,
    out: join(mkdtempSync(join(tmpdir(), "whetstone-")), "bandit"),
  },
  (event) => {
    if (event.type === "iteration" && event.iteration % 20 === 0) {
      console.log(`iteration ${event.iteration}: success ${event.success.toFixed(2)}`);
    }
  },
  new AbortController().signal,
);
await engine.dispose();

const { mean, low, high } = done.success;
console.log(`held-out success ${mean.toFixed(3)} (95 % interval ${low.toFixed(3)} to ${high.toFixed(3)})`);
if (!(mean > 0.9)) throw new Error("the better arm was not found");
