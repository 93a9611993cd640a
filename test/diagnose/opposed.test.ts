/** Runs whose reward is the sign-turned success, and the same runs with a sound one. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import type { Environment } from "../../src/env/environment.ts";
import { environments } from "../../src/env/index.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { train } from "../../src/train/run.ts";
import { folder } from "../train/world.ts";

const doors = ["left", "middle", "right"];
const sound: Environment = {
  ...environments.find(({ name }) => name === "contextual-bandit")!.make(),
  // a third of its guesses are right, so that success can fall
  flawed: (_task, _conversation, random) => doors[random.below(doors.length)]!,
};
const turned: Environment = {
  ...sound,
  start: async (...given) => {
    const episode = await sound.start(...given);
    return {
      ...episode,
      observe: () => episode.observe(),
      act: async (action) => {
        const step = await episode.act(action);
        const success = step.end?.kind === "done" && step.end.success === true;
        return { ...step, rewards: { outcome: success ? -1 : 0 } };
      },
    };
  },
};

const checksOf = async (environment: Environment) => {
  const engine = tabularEngine();
  const { health } = await train(
    {
      environment,
      engine,
      method: grpo.build({ tasks: 8, groupSize: 8, learningRate: 1 }),
      warmStart: { updates: 100, learningRate: 2 },
      iterations: 40,
      seed: 3,
      evaluation: { tasks: 100 },
      out: join(folder(), "run"),
    },
    () => {},
    new AbortController().signal,
  );
  await engine.dispose();
  return health;
};

test("a run that is paid for failing is told so; one that is paid for succeeding is not", async () => {
  const { findings } = await checksOf(turned);
  const found = findings.find(({ check }) => check === "opposed");
  // its best weights, those of the start, were put back: held-out tasks stand still
  assert.equal(found?.severity, "warning");
  assert.match(found.problem, /reward in training rose from -\S+ to \S+ while success .* fell/);
  assert.ok(!findings.some(({ check }) => check === "success"));
  const healthy = await checksOf(sound);
  assert.equal(healthy.checks.find(({ check }) => check === "opposed")?.state, "passed");
});
