/** Hand-made training examples, and their effect on a policy. */
import { loggedTask, type TrainingExample } from "../../src/core/trainingExamples.ts";
import type { Message, Trajectory, TurnTokens } from "../../src/core/types.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { loggedPrompts } from "../../src/env/loggedPrompts.ts";
import type { Recipe } from "../../src/method/method.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { type FromExamplesOptions, fromExamples } from "../../src/train/fromExamples.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { plainAscent } from "../../src/train/trainingArm.ts";

export const ask = (content: string): readonly Message[] => [{ role: "user", content }];
export const nowhere = { sessions: ["s"], users: [], responses: ["r"], signals: ["c"] };

export const task = (question: string, seed = 1) => ({
  id: loggedTask(question),
  prompt: ask(question),
  metadata: {},
  seed,
});

export function reply(id: string, question: string, content: string, tokens?: TurnTokens): Trajectory {
  return {
    id,
    task: loggedTask(question),
    episode: id,
    role: "agent",
    turns: [
      {
        role: "agent",
        model: "policy",
        version: "v1",
        prompt: ask(question),
        action: { role: "assistant", content },
        ...(tokens ? { tokens } : {}),
        spans: {},
        stop: "eos",
        rewards: {},
        ms: 0,
      },
    ],
    end: { kind: "done", reason: "logged" },
    origin: "logged",
  };
}

/** Log-probability of a reply: Σ ln p over its tokens and the end. */
async function logpOf(policy: Parameters<NonNullable<Watched>>[2], question: string, content: string) {
  const prompt = policy.codec.open(ask(question));
  const action = [...policy.codec.encode(content), policy.codec.endId];
  const tokens = Int32Array.from([...prompt, ...action]);
  const { logp } = await policy.score({
    tokens_N: tokens,
    rowOffset: Int32Array.of(0, tokens.length),
    target_A: Int32Array.from(action, (_, i) => prompt.length + i),
    targetOffset: Int32Array.of(0, action.length),
  });
  return logp.reduce((a, b) => a + b, 0);
}
type Watched = Parameters<typeof trainInMemory>[0]["onIteration"];

/** Trains on the examples for a few steps; returns the log-probabilities of some replies before and after. */
export async function learn(
  recipe: Recipe,
  examples: readonly TrainingExample[],
  question: string,
  replies: readonly string[],
  options: FromExamplesOptions = {},
) {
  const environment = loggedPrompts(examples);
  const done = await trainInMemory({
    environment,
    method: fromExamples(recipe.build({ ...plainAscent, learningRate: 0.5 }), examples, options),
    engine: tabularEngine(),
    seed: 1,
    iterations: 20,
  });
  const fresh = await trainInMemory({
    environment,
    method: grpo.build(),
    engine: tabularEngine(),
    seed: 1,
    iterations: 0,
  });
  const before = await Promise.all(replies.map((text) => logpOf(fresh.policy, question, text)));
  const after = await Promise.all(replies.map((text) => logpOf(done.policy, question, text)));
  return { before, after, done };
}

export const verdict = (id: string, text: string, good: boolean, question = "red"): TrainingExample => ({
  kind: "rating",
  id,
  task: task(question),
  from: nowhere,
  channel: "thumb",
  source: "user",
  reply: reply(id, question, text),
  good,
});
