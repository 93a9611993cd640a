/** A model that only talks, as the agent of an evaluation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhetstoneError } from "../../../src/core/errors.ts";
import { randomStream } from "../../../src/core/random.ts";
import { budget } from "../../../src/engine/chat/budget.ts";
import { chatModel } from "../../../src/engine/chat/chat.ts";
import { evaluate } from "../../../src/train/evaluate.ts";
import { echo } from "../../train/world.ts";
import { type Asked, provider } from "./provider.ts";

const settings = {
  environment: echo(),
  split: "test",
  mode: "sampled",
  tasks: 6,
  random: randomStream(1),
  limit: <T>(work: () => Promise<T>) => work(),
} as const;

const last = ({ messages }: Asked): string => String(messages.at(-1)?.content);

test("a chat model plays episodes; its turns have words and no tokens", async () => {
  const { model, asked } = await provider(last);
  const { result, trajectories } = await evaluate({ ...settings, agent: chatModel({ model, id: "tiny" }) });
  assert.equal(result.success.mean, 1);
  assert.equal(asked.length, 12, "two turns each");
  assert.equal(new Set(asked.map((a) => a.seed)).size, 12, "every reply has a seed of its own");
  const [turn] = trajectories[0]!.turns;
  assert.deepEqual([turn!.version, turn!.tokens, turn!.action.content], ["tiny", undefined, "red"]);
});

test("a provider that fails costs its episode, an empty purse ends the evaluation", async () => {
  const broken = await provider((asked, n, response) => {
    if (n > 0) return last(asked);
    response.statusCode = 400;
    response.end("{}");
    return undefined;
  });
  const { result } = await evaluate({ ...settings, agent: chatModel({ model: broken.model }) });
  assert.deepEqual([result.failed, result.success.mean], [1, 1]);

  const { model } = await provider(last);
  const poor = chatModel({ model, budget: budget({ calls: 3 }) });
  await assert.rejects(
    evaluate({ ...settings, agent: poor }),
    (e) => isWhetstoneError(e) && e.code === "budget.spent",
  );
});
