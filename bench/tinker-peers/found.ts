/** What was found of each server, kept beside the page so that measuring one again replaces that one alone. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { z } from "zod";

const draw = z.object({
  /** Of the short row's log-probability by a step on itself, nats. */
  growth: z.number(),
  /** Of the short row's growth: by a step on that row twice, over that by a step on it once. */
  twice: z.number(),
  /** Growth of the long row's log-probability by a step on itself, over that of the short one's. */
  long: z.number(),
  /** What the engine multiplies the loss of the short row by; absent where it tells no norm of its gradient. */
  factor: z.number().optional(),
});
/** What steps are worth on an adapter, as it was drawn. */
export type Draw = z.infer<typeof draw>;

const scale = z.object({
  draws: z.array(draw),
  /** Log-probabilities of the long row's targets before any step. */
  logp: z.array(z.number()),
});
export type Scale = z.infer<typeof scale>;

const curve = z.object({
  method: z.enum(["grpo", "sft"]),
  seed: z.int(),
  /** The reward of the attempts, or −ln p of a demonstrated token, per iteration. */
  values: z.array(z.number()),
  seconds: z.number(),
});
export type Curve = z.infer<typeof curve>;

const home = z.object({
  /** What the server handed out. */
  kind: z.enum(["checkpoint", "adapter"]),
  /** Of the adapter, as it is named in it. */
  alpha: z.number(),
  /** Largest change of a target's log-probability by the training, nats. */
  moved: z.number(),
  /** Largest difference between the server's and this machine's, nats. */
  apart: z.number(),
});
/** Trained weights that were taken home. */
export type Home = z.infer<typeof home>;

const found = z.object({
  name: z.string(),
  /** The day, as ISO 8601 has it. */
  day: z.string(),
  /** A step on the API's own loss. */
  raw: scale.optional(),
  /** A step as the engine takes it. */
  equal: scale.optional(),
  runs: z.array(curve).optional(),
  home: home.optional(),
  /** Why nothing could be taken home. */
  stays: z.string().optional(),
  /** Why something is missing. */
  reason: z.string().optional(),
});
export type Found = z.infer<typeof found>;

const file = z.object({ env: z.string(), found: z.array(found) });

/** What was found in this environment before; nothing, where another one was run. */
export async function readFound(path: string, env: string): Promise<readonly Found[]> {
  if (!existsSync(path)) return [];
  const kept = file.parse(JSON.parse(await readFile(path, "utf8")));
  return kept.env === env ? kept.found : [];
}

/** Puts it in the place of what was found of the same server. @returns all. */
export async function keepFound(path: string, env: string, one: Found): Promise<readonly Found[]> {
  const before = await readFound(path, env);
  const at = before.findIndex(({ name }) => name === one.name);
  const all = at < 0 ? [...before, one] : before.with(at, one);
  await writeFile(path, `${JSON.stringify({ env, found: all }, undefined, 1)}\n`);
  return all;
}
