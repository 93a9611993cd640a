/** Samples and log-probabilities from the weights of a sampling session. */

import { concatIds } from "../../common/tokens/sequence.ts";
import type { TokenRows } from "../../core/batch.ts";
import { rowCount } from "../../core/batch.ts";
import { present, WhetstoneError } from "../../core/errors.ts";
import type { Codec, Draw, Sample, SampleRequest } from "../../core/model.ts";
import type { StopReason } from "../../core/types.ts";
import { endsOf, requireOptions } from "../requests.ts";
import { awaited, submit } from "./future.ts";
import { gate } from "./gate.ts";
import { readSamples } from "./protobuf.ts";
import {
  inputJson,
  protobufType,
  type SampledSequence,
  type SampleResponse,
  sampleResponse,
  textInput,
} from "./protocol.ts";
import type { Session } from "./session.ts";
import { checked, failed } from "./transport.ts";

export interface Sampler {
  /** The wire form of a request, without its prompt. */
  ask(prompt: Int32Array, fields: object): Promise<SampleResponse>;
  /**
   * Several samples of one prompt are sent as one request. So are requests of a call that differ only in their seeds, with
   * the first one's seed: each result depends on the others of its group, and on nothing else.
   * @param version recorded in every sample.
   */
  sample(requests: readonly SampleRequest[], version: string): Promise<Sample[]>;
  /**
   * ln p of every token of a sequence given those before it; NaN at the first. Undefined where the server does not tell that of
   * prompts.
   */
  logp(tokens: Int32Array): Promise<Float32Array | undefined>;
  /** The same at the targets of rows, [A]. */
  score(rows: TokenRows): Promise<Float32Array | undefined>;
}

/** Maximum concurrent requests; more would only wait on the server. */
const mostAtOnce = 64;
/** Approximate bytes of a token in JSON. */
const bytesOfToken = 10;

/** @param id of the sampling session. */
export function openSampler(session: Session, id: string, codec: Codec): Sampler {
  const own = gate(mostAtOnce);
  /** Groups with samples that have not been fetched. Unfetched ones are dropped with the weights. */
  const drawn = new Map<string, { readonly response: Promise<SampleResponse>; readonly left: Set<number> }>();
  let calls = 0;

  const ask = (prompt: Int32Array, fields: object): Promise<SampleResponse> => {
    // numbered in the order of the calls
    const json = {
      prompt: inputJson(textInput(prompt)),
      num_samples: 1,
      sampling_session_id: id,
      seq_id: calls++,
      ...fields,
    };
    const { over, samples, places, encoding } = session;
    return own.through(1, () =>
      places.through(1, async () => {
        session.requireAlive();
        const kind = { type: "Sample", protobuf: encoding !== "json" };
        const submitted = await samples.through(bytesOfToken * prompt.length, () =>
          submit(over, "asample", { json }, { "X-Tinker-Sampling-Backpressure": "1" }),
        );
        const answer = await awaited(over, "asample", { json }, kind, submitted);
        return checked("asample", () =>
          answer.type === protobufType ? readSamples(answer.bytes) : sampleResponse.parse(answer.json),
        );
      }),
    );
  };

  async function logp(tokens: Int32Array): Promise<Float32Array | undefined> {
    if (session.openRl) return undefined;
    const { prompt_logprobs } = await ask(tokens, {
      prompt_logprobs: true,
      sampling_params: { max_tokens: 1, temperature: 1, seed: 0 },
    });
    if (prompt_logprobs?.length === tokens.length) return prompt_logprobs;
    // SkyRL leaves out the first token, which has no log-probability
    if (prompt_logprobs?.length === tokens.length - 1) return Float32Array.of(Number.NaN, ...prompt_logprobs);
    throw failed(
      "asample",
      `${prompt_logprobs?.length ?? 0} log-probabilities for a prompt of ${tokens.length} tokens`,
      "Use a server that answers prompt_logprobs.",
    );
  }

  /** Several samples of one prompt, which the server reads once. */
  function askSeveral(request: SampleRequest, seed: number, count: number): Promise<SampleResponse> {
    const { prompt, maxTokens, temperature = 1, stop = [], stopTokens = [] } = request;
    return ask(prompt, {
      num_samples: count,
      sampling_params: {
        max_tokens: maxTokens,
        temperature,
        seed: seed % 2 ** 31,
        // stop texts and stop ids cannot be combined; replies that the server does not stop are cut below
        ...(stop.length > 0 ? { stop } : stopTokens.length > 0 && { stop: [codec.endId, ...stopTokens] }),
      },
    });
  }

  /** Requested by the first caller, for all callers of the group. */
  function askDraw(request: SampleRequest, { seed, index, of }: Draw): Place {
    const key = `${likeness(request)} ${seed} ${of}`;
    const { response, left } = drawn.get(key) ?? {
      response: askSeveral(request, seed, of),
      left: new Set(Array.from({ length: of }, (_, i) => i)),
    };
    left.delete(index);
    if (left.size > 0) drawn.set(key, { response, left });
    else drawn.delete(key);
    return { response, index };
  }

  /** Requests that differ only in their seeds, with the seed of the first. */
  function askTogether(group: readonly SampleRequest[]): Place[] {
    const seeds = [...new Set(group.map(({ seed }) => seed))];
    const response = askSeveral(group[0]!, seeds[0]!, seeds.length);
    return group.map(({ seed }) => ({ response, index: seeds.indexOf(seed) }));
  }

  async function finished(
    request: SampleRequest,
    sequence: SampledSequence | undefined,
    version: string,
  ): Promise<Sample> {
    const { prompt, temperature } = request;
    // no tokens at all if the reply is only its end token, and the server omits that
    if (!sequence || (sequence.tokens.length === 0 && sequence.stop_reason === "length")) {
      throw failed("asample", "no tokens", "Look at the server.");
    }
    const { length, reason } = ending(request, sequence.tokens, sequence.stop_reason, codec);
    const action = sequence.tokens.slice(0, length);
    // at temperature 0 servers may not report those of temperature 1; scored as a prompt, they are
    const read = temperature === 0 ? await logp(concatIds([prompt, action])) : undefined;
    const own = read?.slice(prompt.length) ?? (sequence.logprobs ?? new Float32Array()).slice(0, length);
    if (own.length !== action.length) {
      throw failed("asample", "no log-probabilities", "Use a server that answers them.");
    }
    const behaviour = temperature === 0 ? new Float32Array(action.length) : own.slice();
    return { action, logp: own, behaviour, stop: reason, version };
  }

  return {
    ask,
    logp,
    async sample(requests, version) {
      requests.forEach(requireServable);
      const places = new Map<SampleRequest, Place>();
      const single = requests.filter(({ draw }) => !draw);
      for (const group of Map.groupBy(single, likeness).values()) {
        askTogether(group).forEach((place, i) => void places.set(group[i]!, place));
      }
      return await Promise.all(
        requests.map(async (request) => {
          const { response, index } = request.draw
            ? askDraw(request, request.draw)
            : present(places.get(request), "sample", "place of a request");
          return await finished(request, (await response).sequences[index], version);
        }),
      );
    },
    score: (rows) => scoreRows(rows, logp),
  };
}

/** ln p of the targets of rows, each read as a prompt; undefined where one is not told. */
async function scoreRows(rows: TokenRows, logp: Sampler["logp"]): Promise<Float32Array | undefined> {
  const out = new Float32Array(rows.target_A.length);
  const told = await Promise.all(
    Array.from({ length: rowCount(rows) }, async (_, r) => {
      const from = rows.rowOffset[r]!;
      const all = await logp(rows.tokens_N.slice(from, rows.rowOffset[r + 1]));
      for (let a = rows.targetOffset[r]!; a < rows.targetOffset[r + 1]!; a++) {
        out[a] = all?.[rows.target_A[a]! - from] ?? Number.NaN;
      }
      return all !== undefined;
    }),
  );
  return told.every(Boolean) ? out : undefined;
}

/** Where the sample of a request is: the `index`-th of a response. */
interface Place {
  readonly response: Promise<SampleResponse>;
  readonly index: number;
}

/** A key that is the same for requests that differ only in their seeds and draws. */
const likeness = ({ seed: _, draw: __, prompt, ...rest }: SampleRequest): string =>
  `${Buffer.from(prompt.buffer, prompt.byteOffset, prompt.byteLength).toString("latin1")} ${JSON.stringify(rest)}`;

/** Several sampling sessions of the same weights as one: requests go to each in turn. */
export function spread(samplers: readonly Sampler[]): Sampler {
  const [only] = samplers;
  if (only && samplers.length === 1) return only;
  let turn = 0;
  const at = (i: number): Sampler => samplers[i % samplers.length]!;
  const next = (): Sampler => at(turn++);
  // all samples of one prompt go to the same session
  const sampling = ({ draw }: SampleRequest): Sampler => (draw ? at(draw.seed) : next());
  return {
    ask: (prompt, fields) => next().ask(prompt, fields),
    logp: (tokens) => next().logp(tokens),
    score: (rows) => next().score(rows),
    sample: async (requests, version) =>
      (await Promise.all(requests.map((request) => sampling(request).sample([request], version)))).flat(),
  };
}

/** The end of a reply, and its stop reason. A server may omit the stop token; it is not added then. */
function ending(
  request: SampleRequest,
  tokens: Int32Array,
  said: "stop" | "length",
  codec: Codec,
): { readonly length: number; readonly reason: StopReason } {
  const ends = endsOf(request, codec);
  const soFar: number[] = [];
  for (const token of tokens) {
    soFar.push(token);
    const reason = ends(soFar);
    if (reason) return { length: soFar.length, reason };
  }
  // Open-RL says "stop" of each
  return { length: tokens.length, reason: tokens.length >= request.maxTokens ? "length" : said };
}

/** @throws WhetstoneError `capability.missing` for what the API does not support, or answers without probabilities. */
function requireServable(request: SampleRequest): void {
  requireOptions(request);
  const { temperature = 1, topP = 1, topK, minP = 0, allowed, choices, mix } = request;
  const narrowed = [
    ...(temperature !== 0 && temperature !== 1 ? [`temperature ${temperature}`] : []),
    ...(topP < 1 ? [`topP ${topP}`] : []),
    ...(topK === undefined ? [] : [`topK ${topK}`]),
    ...(minP > 0 ? [`minP ${minP}`] : []),
    ...(allowed?.length ? ["allowed tokens"] : []),
    ...(choices ? ["choices"] : []),
    ...(mix ? ["a mixture with another model"] : []),
  ];
  if (narrowed.length === 0) return;
  throw new WhetstoneError("capability.missing", {
    where: "tinker engine, sample",
    got: narrowed.join(", "),
    expected:
      "temperature 1 or 0 and no other sampling options, since the API does not return their probabilities",
    fix: "Leave it out, or use --engine local.",
  });
}
