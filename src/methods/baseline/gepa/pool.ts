/** State of a reflective search, stored as plain data in the run's memory. */
import { z } from "zod";
import type { Ctx } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";

const poolSchema = z.object({
  /** Candidates by the ids of their versions, oldest first. */
  members: z.array(
    z.object({
      id: z.string(),
      parents: z.array(z.string()),
      /** Its reward on each held-out task. */
      scores: z.record(z.string(), z.number()),
      /** Index of the text that is rewritten next. */
      turn: z.int(),
    }),
  ),
  /** Keys of merges that were tried; number of merges due, and number kept. */
  tried: z.array(z.string()),
  waiting: z.int(),
  merged: z.int(),
  /** Whether the last iteration added a candidate. */
  found: z.boolean(),
});
export type Pool = z.output<typeof poolSchema>;
export type Member = Pool["members"][number];

/** The search of a run, in its memory. */
export const poolKey = "reflective search";

export function poolOf(ctx: Pick<Ctx, "memory">): Pool | undefined {
  const kept = ctx.memory.get(poolKey);
  return kept === undefined ? undefined : poolSchema.parse(kept);
}

export function keepPool(ctx: Pick<Ctx, "memory">, pool: Pool): void {
  const plain: Json = { ...pool, members: pool.members.map((one) => ({ ...one })) };
  ctx.memory.set(poolKey, plain);
}
