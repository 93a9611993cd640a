/** Schemas of requests that only the server reads; those that Whetstone's client also sends are in the protocol module. */
import { z } from "zod";
import { sampleRequest } from "../../engine/tinker/protocol.ts";
import type { CheckpointAttributes } from "./checkpoints.ts";

const hour = 3600;
const tenYears = 10 * 365 * 24 * hour;

/** @returns undefined if the seconds are out of range. */
export function attributesOf(ttlSeconds: number | null | undefined): CheckpointAttributes | undefined {
  if (ttlSeconds === null || ttlSeconds === undefined) return {};
  if (ttlSeconds < hour || ttlSeconds > tenYears) return undefined;
  return { expires: new Date(Date.now() + 1000 * ttlSeconds).toISOString() };
}
export const ttlRange = `ttl_seconds: expected ${hour} (an hour) to ${tenYears} (ten years), or none.`;

export const ttlRequest = z.object({ ttl_seconds: z.int().nullish() });

export const saveExternalRequest = z.object({
  model_id: z.string(),
  seq_id: z.int().nonnegative().nullish(),
  path: z.string(),
  ttl_seconds: z.int().nullish(),
  age_encryption_recipients: z
    .null("age_encryption_recipients: nothing is encrypted here, leave it out")
    .optional(),
});

/** The project is ignored: this server has one project only. */
export const copyRequest = z.object({
  source_path: z.string(),
  session_id: z.string().nullish(),
  model_seq_id: z.int().nonnegative().nullish(),
  ttl_seconds: z.int().nullish(),
});

/** Pagination parameters of the query. */
export const part = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(20),
  offset: z.coerce.number().int().nonnegative().default(0),
});
export type Part = z.output<typeof part>;

/** Most samples in one request; more ids could fill the memory. */
const mostSamples = 1024;

/** Unsupported fields are refused by name, not ignored. */
export const sampleBody = sampleRequest.and(
  z.object({
    num_samples: z.int().max(mostSamples).optional(),
    topk_sample_logprobs: z.literal(0, "topk_sample_logprobs is not served here: leave it out").optional(),
    target_prompt_logprobs: z.null("target_prompt_logprobs is not served here: leave it out").optional(),
    prompt_alt_tokens_k: z.literal(0, "prompt_alt_tokens_k is not served here: leave it out").optional(),
    prompt_logprobs_last_n: z.null("prompt_logprobs_last_n is not served here: leave it out").optional(),
    record_stability_info: z
      .literal(false, "record_stability_info is not served here: leave it out")
      .nullish(),
  }),
);
