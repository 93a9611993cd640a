/** Serves a model behind an OpenAI-compatible endpoint on the loopback interface, for any client that accepts a base URL. */
import { randomBytes } from "node:crypto";
import { textSoFar } from "../common/tokens/textSoFar.ts";
import { tokenTexts } from "../common/tokens/turns.ts";
import { isWhetstoneError } from "../core/errors.ts";
import type { Model, Sample, SampleRequest } from "../core/model.ts";
import { randomStream } from "../core/random.ts";
import { type Answer, type Backend, endpoint, type Wrote } from "../env/agent/endpoint.ts";
import type { ChatCall, Refusal } from "../env/agent/request.ts";
import { listen } from "../http/listen.ts";
import { type PlaceLimits, places } from "./places.ts";

/** Settings of {@link openaiServer}. */
export interface OpenAIServerOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** What clients must send as their API key. Default: a random one. */
  readonly key?: string;
  /** Model name that clients see. Default: the model's id. */
  readonly name?: string;
  /** Maximum tokens of a reply if the request sets no limit. Default 256. */
  readonly maxTokens?: number;
  /** Sampling seed for requests without a seed. Default 1. */
  readonly seed?: number;
  /** How many replies are written at once, and how many requests may wait for that; more are refused with 429. Default 16 and 64. */
  readonly limits?: PlaceLimits;
}

/** A running server of {@link openaiServer}. */
export interface OpenAIServer {
  /** Options for `new OpenAI(…)` and `createOpenAICompatible(…)`. */
  readonly openai: {
    readonly baseURL: string;
    readonly apiKey: string;
    readonly model: string;
    readonly name: string;
  };
  close(): Promise<void>;
}

/** The parts of a model that serving needs. */
export type Sampler = Pick<Model, "id" | "codec" | "contextTokens" | "read" | "sample">;

/** Serves a model until closed. Concurrent requests are sampled in one batch if the engine batches them. */
export async function openaiServer(model: Sampler, options: OpenAIServerOptions = {}): Promise<OpenAIServer> {
  const { port = 0 } = options;
  const backend = modelBackend(model, options);
  const app = endpoint((session) => (session === undefined ? backend : undefined));
  const listening = await listen((request) => app.fetch(request), { port });
  return {
    openai: {
      baseURL: `${listening.url}/v1`,
      apiKey: backend.key,
      model: backend.model,
      name: "whetstone",
    },
    close: () => listening.close(),
  };
}

/** A model as the backend of an endpoint. */
export interface ModelBackend extends Backend {
  /** The same for one of those who share the places. @param who asks: a user, or a key. */
  completeFor(
    who: string | undefined,
    ...call: Parameters<Backend["complete"]>
  ): ReturnType<Backend["complete"]>;
}

/** Wraps a model as the backend of an endpoint. */
export function modelBackend(model: Sampler, options: Omit<OpenAIServerOptions, "port"> = {}): ModelBackend {
  const { name = model.id, maxTokens = 256, seed = 1 } = options;
  const all = places(options.limits ?? { atOnce: 16, waiting: 64 });
  let answered = 0;
  const backend: ModelBackend = {
    key: options.key ?? randomBytes(24).toString("hex"),
    model: name,
    created: () => Math.floor(Date.now() / 1000),
    complete: (...call) => backend.completeFor(undefined, ...call),
    async completeFor(who, call, gone, wrote) {
      const place = await all.take(call.n, gone, who);
      if (place === "full") return busy(all.limits.waiting);
      if (place === "gone") return leftEarly;
      const index = answered++;
      const random = randomStream(call.seed ?? seed).split(...(call.seed === undefined ? [index] : []));
      const seeds = Array.from({ length: call.n }, (_, i) => random.split("choice", i).seed);
      try {
        const { atOnce } = all.limits;
        return await complete(model, call, { gone, wrote }, { id: `${index}`, maxTokens, seeds, atOnce });
      } finally {
        place.leave();
      }
    },
  };
  return backend;
}

async function complete(
  model: Sampler,
  call: ChatCall,
  { gone, wrote }: { readonly gone: AbortSignal; readonly wrote: Wrote },
  made: {
    readonly id: string;
    readonly maxTokens: number;
    readonly seeds: readonly number[];
    readonly atOnce: number;
  },
): Promise<Answer> {
  const { codec, contextTokens } = model;
  try {
    // with tools and calls, which the template shows too
    const characters = JSON.stringify(call.messages).length;
    if (characters > mostPerToken * contextTokens) return tooLong(`${characters} characters`, contextTokens);
    const prompt = (await model.read?.(call.messages)) ?? codec.open(call.messages);
    const room = contextTokens - prompt.length;
    if (room < 1) return tooLong(`${prompt.length} tokens`, contextTokens);
    const longest = Math.min(room, call.maxTokens ?? made.maxTokens);
    if (call.n * longest > mostTokens) return tooMany(call.n, longest);
    if (gone.aborted) return leftEarly;
    const { temperature, topP, stop } = call;
    const requests = made.seeds.map(
      (seed): SampleRequest => ({
        prompt,
        maxTokens: longest,
        seed,
        ...(temperature === undefined ? {} : { temperature }),
        ...(topP === undefined ? {} : { topP }),
        ...(stop === undefined ? {} : { stop }),
      }),
    );
    const texts = requests.map(() => textSoFar(codec));
    const samples: Sample[] = [];
    // more replies than there are places take turns: memory is planned for so many conversations
    while (samples.length < requests.length) {
      const from = samples.length;
      const onToken = (i: number, token: number): void => wrote(from + i, texts[from + i]!(token));
      const next = requests.slice(from, from + made.atOnce);
      samples.push(...(await model.sample(next, { gone, ...(call.stream && { onToken }) })));
    }
    return {
      kind: "completed",
      id: made.id,
      completions: samples.map(({ action, logp, behaviour, stop, reused = 0 }) => ({
        text: codec.decode(action),
        stop,
        reused,
        sampled: {
          tokens: { prompt, action, logp, behaviour },
          pieces: () => tokenTexts(codec, action),
        },
      })),
    };
  } catch (e) {
    if (gone.aborted) return leftEarly;
    if (isWhetstoneError(e) && clientsFault.has(e.code)) return refused("invalid_prompt", e.message);
    throw e;
  }
}

/** Most tokens of all replies to one request: they are in memory together, and other requests wait for them. */
const mostTokens = 2 ** 17;
const tooMany = (n: number, each: number): Answer =>
  refused(
    "too_many_tokens",
    `The request asks for ${n} replies of up to ${each} tokens, expected at most ${mostTokens} tokens in total. Ask for fewer replies, or set a smaller max_tokens.`,
  );

/** Upper bound on the average characters per token of a meaningful text. */
const mostPerToken = 50;

/** Error codes that only a different request can fix. */
const clientsFault: ReadonlySet<string> = new Set([
  "template.failed",
  "tokenizer.unknownToken",
  "option.range",
]);

const refused = (code: string, message: string): Answer => {
  const refusal: Refusal = { status: 400, type: "invalid_request_error", code, message };
  return { kind: "refused", ...refusal };
};

const leftEarly = refused("client_gone", "The client disconnected before the response ended.");

const busy = (most: number): Answer => ({
  kind: "refused",
  status: 429,
  type: "rate_limit_error",
  code: "too_many_requests",
  message: `All places are taken, and ${most} requests wait already. Ask again in a moment.`,
  retryAfter: 1,
});

const tooLong = (length: string, most: number): Answer =>
  refused(
    "context_length_exceeded",
    `The conversation takes ${length}, expected at most ${most} tokens together with the reply. Shorten the messages.`,
  );
