/**
 * The wire format of the Tinker training API: every request and answer under `/api/v1`, with the names of the wire.
 * Unknown keys are ignored, as newer clients and servers send more.
 */
import { z } from "zod";
import { count, isId, listOf, type Tensor, tensor, tensorJson, whole } from "./tensors.ts";

const textChunk = z.object({
  type: z.literal("encoded_text"),
  tokens: listOf(isId, "whole numbers of 32 bits"),
});
/** Images and sound: known by name, so that they can be rejected by name. */
const otherChunk = z.object({ type: z.enum(["image", "image_asset_pointer", "dmel"]) });
const chunk = z.discriminatedUnion("type", [textChunk, otherChunk]);
/** Ids as a JSON array or a typed array. */
type TextChunk = { readonly type: "encoded_text"; readonly tokens: ArrayLike<number> };
export type Chunk = TextChunk | z.output<typeof otherChunk>;
export const modelInput = z.object({ chunks: z.array(chunk) });
export interface ModelInput {
  readonly chunks: readonly Chunk[];
}

/** @param tokens are not copied. */
export const textInput = (tokens: ArrayLike<number>): ModelInput => ({
  chunks: [{ type: "encoded_text", tokens }],
});

/** An input as JSON has it. */
export const inputJson = ({ chunks }: ModelInput) => ({
  chunks: chunks.map((c) => (c.type === "encoded_text" ? { ...c, tokens: Array.from(c.tokens) } : c)),
});

const datum = z.object({ model_input: modelInput, loss_fn_inputs: z.record(z.string(), tensor) });
/** A sequence without its last token, and numbers for the prediction at each position. */
export interface Datum {
  readonly model_input: ModelInput;
  readonly loss_fn_inputs: Readonly<Record<string, Tensor>>;
}

/** Maximum datums of one request; clients of the API send at most 1,024. */
const mostDatums = 8192;

const lossInput = z.object({
  data: z.array(z.unknown()).max(mostDatums).pipe(z.array(datum)),
  loss_fn: z.string(),
  loss_fn_config: z.record(z.string(), z.union([z.number(), z.string()])).nullish(),
});
/** A number of 0 is none. */
const modelTurn = { model_id: z.string(), seq_id: count.nullish() };
/** Sequence number of a request among the operations of its model. */
export const turn = z.object(modelTurn);
export type Turn = z.output<typeof turn>;

/** A pass over data, forward only or with gradients, from either encoding. */
export interface Pass {
  readonly model_id: string;
  /** Sequence number among the model's training operations, from 1; absent if the order does not matter. */
  readonly seq_id?: number;
  readonly data: readonly Datum[];
  readonly loss_fn: string;
  readonly loss_fn_config: Readonly<Record<string, number | string>>;
  readonly forward_only: boolean;
}

const passOf = (
  { model_id, seq_id }: { readonly model_id: string; readonly seq_id?: number | null | undefined },
  input: z.output<typeof lossInput>,
  forward_only: boolean,
): Pass => ({
  model_id,
  ...(seq_id ? { seq_id } : {}),
  data: input.data,
  loss_fn: input.loss_fn,
  loss_fn_config: input.loss_fn_config ?? {},
  forward_only,
});

/** Body of `forward_backward` in JSON. */
export const forwardBackwardRequest = z
  .object({ ...modelTurn, forward_backward_input: lossInput })
  .transform((r): Pass => passOf(r, r.forward_backward_input, false));
/** Body of `forward` in JSON. */
export const forwardRequest = z
  .object({ ...modelTurn, forward_input: lossInput })
  .transform((r): Pass => passOf(r, r.forward_input, true));

/** The JSON body of `forward` or `forward_backward`, depending on `forward_only`. */
export function passJson({ model_id, seq_id, data, loss_fn, loss_fn_config, forward_only }: Pass) {
  const input = {
    data: data.map((d) => ({
      model_input: inputJson(d.model_input),
      loss_fn_inputs: Object.fromEntries(
        Object.entries(d.loss_fn_inputs).map(([name, t]) => [name, tensorJson(t)]),
      ),
    })),
    loss_fn,
    loss_fn_config,
  };
  return {
    model_id,
    ...(seq_id !== undefined && { seq_id }),
    ...(forward_only ? { forward_input: input } : { forward_backward_input: input }),
  };
}

export const forwardBackwardOutput = z.object({
  loss_fn_output_type: z.string(),
  /** One per datum. `logprobs` are those of the targets, before the next step. */
  loss_fn_outputs: z.array(z.record(z.string(), tensor)),
  /** Named `name:reduction`, where reduction says how to combine the chunks of one batch. */
  metrics: z.record(z.string(), z.number()).default({}),
});
export type ForwardBackwardOutput = z.output<typeof forwardBackwardOutput>;

export const outputJson = ({
  loss_fn_output_type,
  loss_fn_outputs,
  metrics,
}: ForwardBackwardOutput): z.input<typeof forwardBackwardOutput> => ({
  loss_fn_output_type,
  loss_fn_outputs: loss_fn_outputs.map((one) =>
    Object.fromEntries(
      Object.entries(one).map(([name, { dtype, data, shape }]) => [
        name,
        { data: [...data], dtype, shape: [...shape] },
      ]),
    ),
  ),
  metrics,
});

/** Largest learning rate; with an `eps` above 1, a multiple of it, since gradients are then divided by it. */
const highestRate = 1e6;

/** AdamW's settings, with the API's own defaults. Weight decay is decoupled; a clip of 0 means none. */
export const adamParams = z
  .object({
    learning_rate: z.number().nonnegative().default(1e-4),
    beta1: z.number().min(0).lt(1).default(0.9),
    beta2: z.number().min(0).lt(1).default(0.95),
    eps: z.number().positive().default(1e-12),
    weight_decay: z.number().nonnegative().default(0),
    grad_clip_norm: z.number().nonnegative().default(0),
  })
  .superRefine(({ learning_rate: rate, eps, weight_decay: decay }, { addIssue }) => {
    const wrong = (name: string, message: string): void =>
      addIssue({ code: "custom", path: [name], message });
    const highest = highestRate * Math.max(1, eps);
    if (rate > highest) wrong("learning_rate", `got ${rate}, expected 0 to ${highest}`);
    if (rate * decay > 1) {
      wrong("weight_decay", `got ${decay}, expected at most ${1 / rate}: weights would change their sign`);
    }
  });
export type AdamParams = z.output<typeof adamParams>;
export const optimStepRequest = z.object({ ...modelTurn, adam_params: adamParams });
export const optimStepResponse = z.object({ metrics: z.record(z.string(), z.number()).nullish() });

export const clientConfigRequest = z.object({ sdk_version: z.string().nullish() });
/** The server's settings for its clients, with the API's defaults. */
export const clientConfig = z.object({
  parallel_fwdbwd_chunks: z.boolean().default(true),
  fwdbwd_max_chunk_len: z.int().positive().default(1024),
  fwdbwd_max_chunk_bytes_count: z.int().positive().default(5_000_000),
  sample_max_concurrent_requests: z.int().positive().default(2000),
  /** Approximate limit of prompt bytes in flight. */
  sample_dispatch_bytes_semaphore_size: z
    .int()
    .positive()
    .default(10 * 2 ** 20),
  proto_compress_fwdbwd: z.boolean().default(false),
});
export type ClientConfig = z.output<typeof clientConfig>;

export const serverCapabilities = z.object({
  supported_models: z.array(
    z.object({ model_name: z.string().nullish(), max_context_length: count.nullish() }),
  ),
  /** Told by Open-RL alone: whether one process does everything. */
  single_process: z.boolean().nullish(),
});

export const createSessionRequest = z.object({
  tags: z.array(z.string()).default([]),
  user_metadata: z.record(z.string(), z.unknown()).nullish(),
  sdk_version: z.string().nullish(),
});
export const createSessionResponse = z.object({
  session_id: z.string(),
  info_message: z.string().nullish(),
  warning_message: z.string().nullish(),
  error_message: z.string().nullish(),
});
export const sessionHeartbeatRequest = z.object({ session_id: z.string() });

export const loraConfig = z.object({
  rank: count,
  seed: whole.nullish(),
  train_unembed: z.boolean().default(true),
  train_mlp: z.boolean().default(true),
  train_attn: z.boolean().default(true),
});
export const createModelRequest = z.object({
  session_id: z.string(),
  model_seq_id: count,
  base_model: z.string(),
  user_metadata: z.record(z.string(), z.unknown()).nullish(),
  lora_config: loraConfig.nullish(),
});
export const modelResponse = z.object({ model_id: z.string() });
/** `get_info` and `unload_model`. */
export const modelRequest = z.object({ model_id: z.string() });
export const infoResponse = z.object({
  model_id: z.string(),
  model_data: z.object({
    arch: z.string().nullish(),
    model_name: z.string().nullish(),
    tokenizer_id: z.string().nullish(),
  }),
  is_lora: z.boolean().nullish(),
  lora_rank: count.nullish(),
});

const name = z
  .string()
  .regex(/^[a-zA-Z0-9_.-]{1,255}$/, "a name of letters, digits, dots, dashes and underscores");
export const saveWeightsRequest = z.object({
  ...modelTurn,
  path: name.nullish(),
  ttl_seconds: whole.nullish(),
  overwrite: z.boolean().default(false),
});
export const loadWeightsRequest = z.object({
  model_id: z.string().nullish(),
  seq_id: count.nullish(),
  /** Instead of `model_id`: creates and loads a model in one call. */
  session_id: z.string().nullish(),
  model_seq_id: count.nullish(),
  base_model: z.string().nullish(),
  path: z.string(),
  optimizer: z.boolean(),
});
/** With a `sampling_session_seq_id` instead of a path, nothing is written: the weights serve one sampling session. */
export const saveForSamplerRequest = z.object({
  ...modelTurn,
  path: name.nullish(),
  sampling_session_seq_id: count.nullish(),
  ttl_seconds: whole.nullish(),
});
export const pathResponse = z.object({ path: z.string() });
export const saveForSamplerResponse = z.object({
  path: z.string().nullish(),
  sampling_session_id: z.string().nullish(),
});
export const createSamplingSessionRequest = z.object({
  session_id: z.string(),
  sampling_session_seq_id: count,
  base_model: z.string().nullish(),
  model_path: z.string().nullish(),
});
export const samplingSessionResponse = z.object({ sampling_session_id: z.string() });

export const samplingParams = z.object({
  max_tokens: z.int().positive().nullish(),
  seed: whole.nullish(),
  /** Absent: the model's end token ends a reply. An empty list: nothing does. */
  stop: z.union([z.string(), z.array(z.string()), z.array(whole)]).nullish(),
  temperature: z.number().nonnegative().default(1),
  /** -1 for all. */
  top_k: whole.default(-1),
  top_p: z.number().default(1),
});
export const sampleRequest = z.object({
  prompt: modelInput,
  num_samples: z.int().positive().default(1),
  sampling_params: samplingParams,
  base_model: z.string().nullish(),
  model_path: z.string().nullish(),
  sampling_session_id: z.string().nullish(),
  seq_id: whole.nullish(),
  prompt_logprobs: z.boolean().nullish(),
  topk_prompt_logprobs: count.default(0),
});
export type SampleRequestBody = z.output<typeof sampleRequest>;

const ids = z.array(whole).transform((xs) => Int32Array.from(xs));
const floats = z.array(z.number()).transform((xs) => Float32Array.from(xs));
export const sampledSequence = z.object({
  stop_reason: z.enum(["stop", "length"]),
  tokens: ids,
  logprobs: floats.nullish(),
});
export const sampleResponse = z.object({
  sequences: z.array(sampledSequence),
  /** Log-probability of each prompt token; NaN where there is none, as for the first. */
  prompt_logprobs: z
    .array(z.number().nullable())
    .transform((xs) => Float32Array.from(xs, (x) => x ?? Number.NaN))
    .nullish(),
  topk_prompt_logprobs: z.array(z.array(z.tuple([whole, z.number()])).nullable()).nullish(),
});
export type SampledSequence = z.output<typeof sampledSequence>;
export type SampleResponse = z.output<typeof sampleResponse>;

/** A sampling answer in JSON. */
export const samplesJson = ({ sequences, prompt_logprobs, topk_prompt_logprobs }: SampleResponse) => ({
  type: "sample",
  sequences: sequences.map(({ stop_reason, tokens, logprobs }) => ({
    stop_reason,
    tokens: [...tokens],
    ...(logprobs && { logprobs: [...logprobs] }),
  })),
  ...(prompt_logprobs && {
    prompt_logprobs: Array.from(prompt_logprobs, (x) => (Number.isNaN(x) ? null : x)),
  }),
  ...(topk_prompt_logprobs && { topk_prompt_logprobs }),
});

/** The answer of a long-running call: where to request its result. */
export const future = z.object({ request_id: z.string(), model_id: z.string().nullish() });
export const retrieveFutureRequest = z.object({
  request_id: z.string(),
  allow_metadata_only: z.boolean().default(false),
});
/** Answers of `retrieve_future` that are not a result. */
export const tryAgain = z.object({
  type: z.literal("try_again"),
  request_id: z.string(),
  queue_state: z.string().default("active"),
  queue_state_reason: z.string().nullish(),
});
/** Category "User", in upper or lower case: the request is invalid, and would be again. */
export const requestFailed = z.object({ error: z.string(), category: z.string().default("Unknown") });
export const metadataOnly = z.object({
  status: z.literal("complete_metadata"),
  response_payload_size: count,
});

/** `retrieve_futures`: which calls of a sampling session have ended since a cursor. */
export const retrieveFuturesRequest = z.object({
  target: z.object({
    type: z.literal("sampling_session").default("sampling_session"),
    sampling_session_id: z.string(),
    cloned_sampler_id: count.default(0),
  }),
  prev_cursor: count.default(0),
  /** Longest wait in seconds; absent: the server's own. */
  timeout: z.number().nonnegative().nullish(),
  retrieved_request_ids: z.array(z.string()).default([]),
});

/** An error's body. */
export const errorBody = z.object({ detail: z.unknown() });

export const protobufType = "application/x-protobuf";
