/** A policy in this process as a backend: its prompt and sampled tokens are known exactly. */
import { randomInt } from "node:crypto";
import type { TurnTokens } from "../../core/types.ts";
import { type Backend, endpoint } from "../../env/agent/endpoint.ts";
import { modelBackend, type Sampler } from "../openaiServer.ts";
import type { PlaceLimits } from "../places.ts";
import type { Answerer, Call } from "./answerer.ts";

/** Settings of {@link policy}. */
export interface PolicyOptions {
  /** Name in the list of models. Default: the model's id. */
  readonly name?: string;
  /** Maximum tokens of a reply if the request sets no limit. Default 256. */
  readonly maxTokens?: number;
  /** Sampling seed for requests without a seed. Default: a random seed per request. */
  readonly seed?: number;
  /** How many replies are written at once, and how many requests may wait for that; more are refused with 429. Default 16 and 64. */
  readonly limits?: PlaceLimits;
  /** Called when the backend closes. */
  readonly dispose?: () => Promise<void>;
}

/** Serves a model as a backend. Every call has its own path on one endpoint, which links the sampled tokens to the call. */
export function policy(model: Sampler, options: PolicyOptions = {}): Answerer {
  const { seed = randomInt(2 ** 31), dispose } = options;
  const backend = modelBackend(model, { ...options, seed });
  const open = new Map<string, Backend>();
  const running = new Set<Promise<unknown>>();
  let calls = 0;
  const app = endpoint((path) => (path === undefined ? undefined : open.get(path)));

  async function answered(path: string, { body, gone: signal, who }: Call) {
    let tokens: readonly TurnTokens[] = [];
    open.set(path, {
      ...backend,
      async complete(...call) {
        const answering = backend.completeFor(who, ...call);
        running.add(answering);
        try {
          const answer = await answering;
          if (answer.kind === "completed")
            tokens = answer.completions.flatMap(({ sampled }) => (sampled ? [sampled.tokens] : []));
          return answer;
        } finally {
          running.delete(answering);
        }
      },
    });
    const request = new Request(`http://policy/session/${path}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${backend.key}`, "content-type": "application/json" },
      body: typeof body === "string" ? body : Uint8Array.from(body),
      signal,
    });
    const { status, headers, body: bytes } = await app.fetch(request);
    // a refusal because the client has left is no answer
    if (status >= 400) signal.throwIfAborted();
    return {
      status,
      headers: Object.fromEntries(headers),
      body: bytes ?? nothing(),
      tokens: () => tokens,
    };
  }

  return {
    async chat(call) {
      const path = `${calls++}`;
      try {
        return await answered(path, call);
      } finally {
        open.delete(path);
      }
    },
    models: async () => [backend.model],
    async close() {
      await Promise.allSettled(running);
      await dispose?.();
    },
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
