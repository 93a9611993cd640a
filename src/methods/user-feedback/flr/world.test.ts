import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { play } from "../../../../test/env/play.ts";
import { randomStream } from "../../../core/random.ts";
import { followUps, satisfied } from "./world.ts";

obeysTheLaws(() => followUps(), { garbage: 0.2 });

const share = (xs: readonly boolean[]): number => xs.filter(Boolean).length / xs.length;

test("follow-ups: satisfied words follow right answers at the rate asked for, and wrong ones at the rest", async () => {
  const env = followUps({ fitting: 0.8 });
  const pleased = async (answer: (right: string) => string): Promise<number> => {
    const said = env.tasks("train").flatMap((task) =>
      Array.from({ length: 16 }, async (_, i) => {
        const { texts } = await play(env, task, () => answer(task.reference!), randomStream(i));
        return satisfied.some((words) => words === texts[0]);
      }),
    );
    return share(await Promise.all(said));
  };
  // 400 each, deviation 0.02
  assert.ok(Math.abs((await pleased((right) => right)) - 0.8) < 0.08);
  assert.ok(Math.abs((await pleased((right) => (right === "a0" ? "a1" : "a0"))) - 0.2) < 0.08);
});
