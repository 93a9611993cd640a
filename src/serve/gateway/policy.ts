/** A policy in this process as a backend: its prompt and sampled tokens are known exactly. */
import { randomInt } from "node:crypto";
import type { TurnTokens } from "../../core/types.ts";
import { endpoint } from "../../env/agent/endpoint.ts";
import { modelBackend, type Sampler } from "../openaiServer.ts";
import type { Answerer } from "./answerer.ts";

/** Settings of {@link policy}. */
export interface PolicyOptions {
  /** Name in the list of models. Default: the model's id. */
  readonly name?: string;
  /** Maximum tokens of a reply if the request sets no limit. Default 256. */
  readonly maxTokens?: number;
  /** Sampling seed for requests without a seed. Default: a random seed per request. */
  readonly seed?: number;
  /** Called when the backend closes. */
  readonly dispose?: () => Promise<void>;
}

/** Serves a model as a backend. Every call has its own path on one endpoint, which links the sampled tokens to the call. */
export function policy(model: Sampler, options: PolicyOptions = {}): Answerer {
  const { seed = randomInt(2 ** 31), dispose } = options;
  const backend = modelBackend(model, { ...options, seed });
  const sampled = new Map<string, readonly TurnTokens[]>();
  const running = new Set<Promise<unknown>>();
  let calls = 0;
  const app = endpoint((path) => {
    if (path === undefined || !sampled.has(path)) return undefined;
    return {
      ...backend,
      async complete(call, gone) {
        const answer = await backend.complete(call, gone);
        if (answer.kind === "completed") {
          sampled.set(
            path,
            answer.completions.flatMap(({ sampled: one }) => (one ? [one.tokens] : [])),
          );
        }
        return answer;
      },
    };
  });

  async function answered(path: string, body: string | Uint8Array, signal: AbortSignal) {
    const request = new Request(`http://policy/session/${path}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${backend.key}`, "content-type": "application/json" },
      body: typeof body === "string" ? body : Uint8Array.from(body),
      signal,
    });
    const { status, headers, body: bytes } = await app.fetch(request);
    const tokens = sampled.get(path) ?? [];
    return {
      status,
      headers: Object.fromEntries(headers),
      body: bytes ?? nothing(),
      tokens: () => tokens,
    };
  }

  return {
    async chat({ body, gone }) {
      const path = `${calls++}`;
      sampled.set(path, []);
      const answer = answered(path, body, gone);
      running.add(answer);
      try {
        return await answer;
      } finally {
        running.delete(answer);
        sampled.delete(path);
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
