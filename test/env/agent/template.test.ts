/** An agent with tools over a published model's own conversation form. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";
import { trajectoryRows } from "../../../src/common/tokens/pack.ts";
import { concatIds } from "../../../src/common/tokens/sequence.ts";
import { randomStream } from "../../../src/core/random.ts";
import { actionTokens } from "../../../src/core/types.ts";
import { templateCodec } from "../../../src/engine/local/templateCodec.ts";
import { loadTokenizer } from "../../../src/engine/local/tokenizer.ts";
import { agent } from "../../../src/env/agent/agent.ts";
import { type Actor, modelActor } from "../../../src/rollout/actor.ts";
import { playEpisode } from "../../../src/rollout/episode.ts";
import { chatMl, tokenizers } from "../../engine/local/chatModels.ts";

const files = {
  ...tokenizers.chatMl,
  template: `{% for t in tools or [] %}{{ 'tool ' + t.function.name + '\\n' }}{% endfor %}${chatMl}`,
};
const codec = templateCodec(files);

/** A model that writes these replies, one after the other, each ended by its own end token. */
function writing(replies: readonly string[]): Actor {
  let written = 0;
  return modelActor({
    id: "policy",
    codec,
    contextTokens: 4096,
    sample: async (requests) =>
      requests.map(() => {
        const action = concatIds([codec.encode(replies[written++] ?? ""), Int32Array.of(codec.endId)]);
        const logp = new Float32Array(action.length).fill(-1);
        return { action, logp, behaviour: logp, stop: "eos", version: "1" };
      }),
  });
}

test("agent: over a chat template, tools are offered and called in its form, in one sequence that only grows", async () => {
  const call = '<tool_call>\n{"name": "look", "arguments": {"item":   "the door"}}\n</tool_call>';
  const looked: string[] = [];
  const environment = agent(
    async ({ openai }) => {
      const { text } = await generateText({
        model: createOpenAICompatible(openai)(openai.model),
        system: "be kind",
        prompt: "what",
        stopWhen: stepCountIs(3),
        maxRetries: 0,
        tools: {
          look: tool({
            inputSchema: z.object({ item: z.string() }),
            execute: async ({ item }) => {
              looked.push(item);
              return "red";
            },
          }),
        },
      });
      return text;
    },
    { tasks: { train: [{ question: "what" }] }, reward: (_task, said) => Number(said === "it is red") },
  );
  const [task] = environment.tasks("train");
  const actor = writing([call, "it is red"]);
  const played = await playEpisode({
    environment,
    task: task!,
    id: "e",
    random: randomStream(1),
    actor: () => actor,
  });
  const t = played[0]!;
  assert.deepEqual(t.end, { kind: "done", reason: "success", success: true });
  assert.deepEqual(looked, ["the door"]);
  const unit = { id: "u", group: "g", members: [] };
  const { rows, cuts } = trajectoryRows(t, unit, new Float32Array(actionTokens(t)));
  assert.deepEqual([rows.length, cuts], [1, 0]);
  // the blanks within the call are the model's own: a template would have written it with one
  const whole =
    "tool look\n<|im_start|>system\nbe kind<|im_end|>\n<|im_start|>user\nwhat<|im_end|>\n<|im_start|>assistant\n" +
    `${call}<|im_end|>\n<|im_start|>user\n<tool_response>\nred\n</tool_response><|im_end|>\n<|im_start|>assistant\nit is red<|im_end|>`;
  assert.deepEqual(
    [...rows[0]!.tokens],
    loadTokenizer(files).encode(whole, { add_special_tokens: false }).ids,
  );
});
