/** Samples replies, and computes log-probabilities of prompts. */

import { pairRows } from "../../common/tokens/pack.ts";
import type { Model, SampleRequest } from "../../core/model.ts";
import { randomStream } from "../../core/random.ts";
import type { SampleRequestBody, SampleResponse } from "../../engine/tinker/protocol.ts";
import { type Fault, fault, isFault } from "./fault.ts";
import { tokensOf } from "./pass.ts";

/** Weights to sample from. */
export type Source = Pick<Model, "sample" | "score">;

/** Most top-k entries over all prompt positions in one response. */
const mostCells = 2 ** 20;

type Stop = Pick<SampleRequest, "stop" | "stopTokens">;

const isText = (x: unknown): x is string => typeof x === "string";
const isId = (x: unknown): x is number => typeof x === "number";

function stopOf(stop: SampleRequestBody["sampling_params"]["stop"]): Stop | Fault {
  if (stop === undefined || stop === null) return {};
  if (isText(stop)) return { stop: [stop] };
  const list: readonly unknown[] = stop;
  if (list.length === 0) {
    return fault(
      "stop: got an empty list, expected texts or token ids: a reply always ends at the model's own end. Leave it out.",
    );
  }
  if (list.every(isText)) return { stop: list };
  return { stopTokens: list.filter(isId) };
}

/**
 * @param seed for requests without a seed.
 * @param contextTokens longest sequence, prompt and reply together.
 */
export async function sampled(
  source: Source,
  body: SampleRequestBody,
  contextTokens: number,
  seed: string,
): Promise<SampleResponse | Fault> {
  const { num_samples, sampling_params, prompt_logprobs, topk_prompt_logprobs } = body;
  const prompt = tokensOf(body.prompt);
  if (isFault(prompt)) return prompt;
  const room = contextTokens - prompt.length;
  if (prompt.length === 0 || room < 1) {
    return fault(
      `prompt: got ${prompt.length} tokens, expected 1 to ${contextTokens - 1}, since a reply has to fit into the same ${contextTokens}.`,
    );
  }
  if (prompt.length * topk_prompt_logprobs > mostCells) {
    return fault(
      `topk_prompt_logprobs: got ${topk_prompt_logprobs} for ${prompt.length} tokens, expected a product of at most ${mostCells}.`,
    );
  }
  const stop = stopOf(sampling_params.stop);
  if (isFault(stop)) return stop;
  const { max_tokens, temperature, top_k, top_p } = sampling_params;
  const random = randomStream(sampling_params.seed ?? seed);
  const samples = await source.sample(
    Array.from({ length: num_samples }, (_, i) => ({
      prompt,
      maxTokens: Math.min(room, max_tokens ?? room),
      temperature,
      topP: top_p,
      ...(top_k > 0 && { topK: top_k }),
      ...stop,
      seed: random.split("sample", i).seed,
    })),
  );
  const asked = prompt_logprobs || topk_prompt_logprobs > 0;
  const seen = asked ? await promptOutputs(source, prompt, topk_prompt_logprobs) : undefined;
  return {
    sequences: samples.map(({ action, logp, stop }) => ({
      stop_reason: stop === "eos" || stop === "stop" ? "stop" : "length",
      tokens: Int32Array.from(action),
      logprobs: Float32Array.from(logp),
    })),
    ...(prompt_logprobs && seen && { prompt_logprobs: seen.logprobs }),
    ...(seen?.topk && { topk_prompt_logprobs: seen.topk }),
  };
}

/** Log-probability of each prompt token after the first, and the top-k tokens at each position. */
async function promptOutputs(source: Source, prompt: Int32Array, k: number) {
  const logprobs = new Float32Array(prompt.length).fill(Number.NaN);
  if (prompt.length === 1) return { logprobs, ...(k > 0 && { topk: [null] }) };
  const rows = pairRows([{ prompt: prompt.subarray(0, 1), target: prompt.subarray(1) }]);
  const { logp, topk } = await source.score(rows, k > 0 ? { topk: k } : {});
  logprobs.set(logp, 1);
  if (!topk) return { logprobs };
  const cells = Array.from(logp, (_, i) =>
    Array.from({ length: k }, (_, j): [number, number] => [topk.ids[i * k + j]!, topk.logp[i * k + j]!]),
  );
  return { logprobs, topk: [null, ...cells] };
}
