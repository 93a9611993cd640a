/** A chat model that is really a model of the local engine, behind an OpenAI-compatible address. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { randomStream } from "../../../src/core/random.ts";
import { chatModel } from "../../../src/engine/chat/chat.ts";
import { openaiServer } from "../../../src/serve/openaiServer.ts";
import { evaluate } from "../../../src/train/evaluate.ts";
import { echo, tiny } from "../../train/world.ts";

test("the same model talks alike through the API and in-process", async () => {
  const environment = echo();
  const engine = tiny();
  const model = await engine.create({
    id: "policy",
    seed: 1,
    vocabulary: environment.vocabulary!(),
    contextTokens: 32,
  });
  const server = await openaiServer(model, { maxTokens: 3 });
  try {
    const { openai } = server;
    const chat = chatModel({ model: createOpenAICompatible(openai)(openai.model), maxTokens: 3 });
    const asked = {
      environment,
      split: "test",
      mode: "greedy",
      tasks: 6,
      random: randomStream(1),
      limit: <T>(work: () => Promise<T>) => work(),
    } as const;
    const [outside, inside] = [
      await evaluate({ ...asked, agent: chat }),
      await evaluate({ ...asked, agent: model }),
    ];
    const words = (played: typeof inside): string[][] =>
      played.trajectories.map((t) => t.turns.map((turn) => turn.action.content));
    assert.equal(outside.result.failed, 0);
    assert.deepEqual(words(outside), words(inside));
    assert.ok(chat.spent().inputTokens > 0);
  } finally {
    await server.close();
    await engine.dispose();
  }
});
