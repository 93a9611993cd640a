/** One model on a server: its training operations, numbered, in order, in chunks. */
import { promisify } from "node:util";
import zlib from "node:zlib";
import { awaited, type Kind, resultOf, submit, submitIfRead } from "./future.ts";
import { readOutput, writePass } from "./protobuf.ts";
import {
  type AdamParams,
  type Datum,
  type ForwardBackwardOutput,
  forwardBackwardOutput,
  modelResponse,
  optimStepResponse,
  type Pass,
  passJson,
  pathResponse,
  protobufType,
  saveForSamplerResponse,
} from "./protocol.ts";
import type { Session } from "./session.ts";
import { floatArray } from "./tensors.ts";
import { type Answer, type Body, checked, failed } from "./transport.ts";

export interface Trainer {
  readonly modelId: string;
  /** Whether its server may compile a program for each number of datums. */
  readonly compiles: boolean;
  /** Log-probabilities of each datum's targets. Gradients accumulate; errors of a pass are also reported by the step. */
  pass(
    data: readonly Datum[],
    lossFn: string,
    forwardOnly: boolean,
    config?: Readonly<Record<string, number>>,
  ): Promise<Float32Array[]>;
  /** Metrics of the server. @throws also the error of an earlier pass. */
  step(params: AdamParams): Promise<Readonly<Record<string, number>>>;
  /** @returns the `tinker://` path. */
  save(name: string): Promise<string>;
  /** Saves weights for sampling, which servers offer for download. @returns the `tinker://` path. */
  saveForSampler(name: string): Promise<string>;
  load(path: string, optimizer: boolean): Promise<void>;
  /** A sampling session that keeps the current weights permanently. @returns its id. */
  sampler(): Promise<string>;
  /** Unloads the model once pending saves are complete. */
  unload(): Promise<void>;
}

export interface TrainerOptions {
  readonly baseModel: string;
  readonly rank: number;
  readonly seed: number;
}

/** A call that the server accepted, and the id of its result. */
interface Submitted {
  readonly path: string;
  readonly body: Body;
  readonly id: string;
}

/**
 * Submits a call under the next number.
 * @param submitted gets the number, and returns the accepted call.
 * @param after must settle first, whether it succeeds or fails.
 */
type Numbered = (
  submitted: (seq: number) => Promise<Submitted>,
  kind: Kind,
  after?: readonly Promise<unknown>[],
) => Promise<Answer>;

/** Numbers the operations of one model. */
function numberedCalls(session: Session): Numbered {
  let operations = 0;
  // calls are submitted one after the other; their results are awaited concurrently. If a submission never arrived,
  // the server would wait for its number, so all later calls fail with the same error
  let sent: Promise<unknown> = Promise.resolve();
  return (submitted, kind, after = []) => {
    session.requireAlive();
    const seq = ++operations;
    const call = sent.then(async () => {
      if (after.length > 0) await Promise.allSettled(after);
      return await submitted(seq);
    });
    sent = call;
    call.catch(() => undefined); // reported to the caller that awaits it
    return call.then(({ path, body, id }) => awaited(session.over, path, body, kind, id));
  };
}

/** Submits a pass in an encoding that the server accepts, which the first pass determines. */
async function submitPass(session: Session, pass: Pass): Promise<Submitted> {
  const { over, config } = session;
  if (session.encoding !== "json") {
    const path = "forward_backward";
    const body = await packed(writePass(pass), config.proto_compress_fwdbwd);
    const id =
      session.encoding === undefined ? await submitIfRead(over, path, body) : await submit(over, path, body);
    session.encoding = id === undefined ? "json" : "protobuf";
    if (id !== undefined) return { path, body, id };
  }
  // where there is no forward pass, a backward pass does as well: the data of forward passes have weights of 0
  const forward_only = pass.forward_only && !session.openRl;
  const path = forward_only ? "forward" : "forward_backward";
  const body = { json: passJson({ ...pass, forward_only }) };
  return { path, body, id: await submit(over, path, body) };
}

/** Of an adapter in PEFT: alpha as on the hosted service, and no dropout, which would scatter log-probabilities. */
const openRlSettings = { lora_alpha: 32, lora_dropout: 0 };

/** Makes a model on the server. @returns its id. */
async function made(session: Session, { baseModel, rank, seed }: TrainerOptions): Promise<string> {
  const lora_config = {
    rank,
    seed,
    train_unembed: false,
    train_mlp: true,
    train_attn: true,
    ...(session.openRl && openRlSettings),
  };
  const json = {
    session_id: session.id,
    model_seq_id: session.nextModel(),
    base_model: baseModel,
    lora_config,
  };
  const answer = await resultOf(session.over, "create_model", { json }, { type: "CreateModel" });
  const modelId = checked("create_model", () => modelResponse.parse(answer.json)).model_id;
  session.models.add(modelId);
  return modelId;
}

/** A new model on the server. */
export async function openTrainer(session: Session, options: TrainerOptions): Promise<Trainer> {
  const { over, config } = session;
  const modelId = await made(session, options);
  const numbered = numberedCalls(session);
  /** Gradients of the next step that are in flight. */
  let passes: Promise<unknown>[] = [];
  let saving: Promise<unknown> = Promise.resolve();

  const simple = (
    path: string,
    fields: object,
    type: string,
    after?: readonly Promise<unknown>[],
  ): Promise<Answer> =>
    numbered(
      async (seq_id) => {
        const body = { json: { model_id: modelId, seq_id, ...fields } };
        return { path, body, id: await submit(over, path, body) };
      },
      { type },
      after,
    );

  async function passed(
    data: readonly Datum[],
    how: Pick<Pass, "loss_fn" | "loss_fn_config" | "forward_only">,
  ) {
    const parts = chunksOf(data, config.fwdbwd_max_chunk_len, config.fwdbwd_max_chunk_bytes_count);
    const outputs = await Promise.all(
      parts.map(async (part): Promise<ForwardBackwardOutput> => {
        const answer = await numbered(
          (seq_id) => submitPass(session, { model_id: modelId, seq_id, data: part, ...how }),
          { type: "ForwardBackward", protobuf: true },
        );
        return checked("forward_backward", () =>
          answer.type === protobufType ? readOutput(answer.bytes) : forwardBackwardOutput.parse(answer.json),
        );
      }),
    );
    const logprobs = outputs.flatMap(({ loss_fn_outputs }) =>
      loss_fn_outputs.map((one) => floatArray(one.logprobs?.data ?? [])),
    );
    const wrong = data.findIndex((d, i) => logprobs[i]?.length !== lengthOf(d));
    if (wrong < 0 && logprobs.length === data.length) return logprobs;
    throw failed(
      "forward_backward",
      `${logprobs[wrong]?.length ?? 0} log-probabilities for a datum of ${lengthOf(data[wrong])} targets`,
      "Check that the server speaks the Tinker API.",
    );
  }

  return {
    modelId,
    get compiles() {
      return session.skyRl === true;
    },
    pass(data, loss_fn, forward_only, loss_fn_config = {}) {
      const logprobs = passed(data, { loss_fn, loss_fn_config, forward_only });
      if (!forward_only) passes.push(logprobs);
      logprobs.catch(() => undefined); // also reported by the step
      return logprobs;
    },
    async step(params) {
      const betas = { beta1: float(params.beta1), beta2: float(params.beta2) };
      const adam_params = { ...params, ...(session.openRl && betas) };
      const before = passes;
      passes = [];
      const stepped = simple(
        "optim_step",
        { adam_params },
        "OptimStep",
        session.skyRl === false ? [] : before,
      );
      stepped.catch(() => undefined); // the failed pass has the reason
      await Promise.all(before);
      const answer = await stepped;
      const metrics = checked("optim_step", () => optimStepResponse.parse(answer.json)).metrics ?? {};
      recognise(session, metrics);
      return metrics;
    },
    async save(path) {
      const fields = { path, overwrite: true, ...(session.openRl && { include_optimizer: true }) };
      const saved = simple("save_weights", fields, "SaveWeights");
      saving = Promise.allSettled([saving, saved]);
      const answer = await saved;
      return checked("save_weights", () => pathResponse.parse(answer.json)).path;
    },
    async saveForSampler(path) {
      const answer = await simple("save_weights_for_sampler", { path }, "SaveWeightsForSampler");
      return checked("save_weights_for_sampler", () => pathResponse.parse(answer.json)).path;
    },
    async load(path, optimizer) {
      await simple("load_weights", { path, optimizer }, "LoadWeights");
    },
    async sampler() {
      const next = { sampling_session_seq_id: session.nextSampler() };
      const answer = await simple("save_weights_for_sampler", next, "SaveWeightsForSampler");
      const saved = checked("save_weights_for_sampler", () => saveForSamplerResponse.parse(answer.json));
      if (saved.sampling_session_id) return saved.sampling_session_id;
      throw failed(
        "save_weights_for_sampler",
        "no sampling session",
        "Check that the server speaks the Tinker API.",
      );
    },
    async unload() {
      await saving;
      await session.unload(modelId);
    },
  };
}

/** Learns from the metrics of a step who the server is. */
function recognise(session: Session, metrics: Readonly<Record<string, number>>): void {
  const skyRl = Object.keys(metrics).some((name) => name.startsWith("skyrl.ai/"));
  if (skyRl && session.skyRl === undefined)
    session.over.say(
      "The server is SkyRL. By JAX it compiles a program for each number of sequences that it samples at once, unless it was started with " +
        `--backend-config '{"sample_max_num_sequences": 32}' or another fixed number`,
    );
  session.skyRl = skyRl;
}

/** A number that Python reads as a float, not as an integer: PyTorch's AdamW refuses betas that are integers. */
const float = (x: number): number => (x === 0 ? 1e-12 : x);

/** The gradient norm among a server's metrics, under any of its known names, if reported. */
export const gradientNormIn = (metrics: Readonly<Record<string, number>>): number | undefined =>
  Object.entries(metrics).find(([name]) => /grad(ient)?_?norm/i.test(name))?.[1];

/** Compresses with zstd if the server requests it and this Node has it: 22.15 and later. */
async function packed(protobuf: Uint8Array<ArrayBuffer>, asked: boolean): Promise<Body> {
  if (!asked || typeof zlib.zstdCompress !== "function") return { protobuf };
  return { protobuf: new Uint8Array(await promisify(zlib.zstdCompress)(protobuf)), zstd: true };
}

const lengthOf = (d: Datum | undefined): number => d?.loss_fn_inputs.target_tokens?.data.length ?? 0;

/** Approximate bytes of a datum in protobuf: 4 per input token, and 4 to 8 for each number at it. */
const bytesOf = (d: Datum): number => {
  let bytes = 4 * lengthOf(d) + 64;
  for (const { dtype, data } of Object.values(d.loss_fn_inputs)) {
    bytes += (dtype === "int64" ? 8 : 4) * data.length + 32;
  }
  return bytes;
};

/** Splits the data so that no chunk exceeds the datums or bytes; a single datum that is too large is a chunk of its own. */
export function chunksOf(data: readonly Datum[], most: number, mostBytes: number): Datum[][] {
  const parts: Datum[][] = [];
  let bytes = 0;
  for (const datum of data) {
    const more = bytesOf(datum);
    const last = parts.at(-1);
    if (last && last.length < most && bytes + more <= mostBytes) {
      last.push(datum);
      bytes += more;
    } else {
      parts.push([datum]);
      bytes = more;
    }
  }
  return parts;
}
