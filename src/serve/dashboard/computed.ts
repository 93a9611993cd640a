/** The engine of a run and its staleness, from its config. */
import { z } from "zod";
import type { Run } from "../../store/runStore.ts";

export interface Computed {
  readonly engine: string;
  /** Iterations that rollouts may run ahead of training. */
  readonly staleness: number;
}

const stated = z.object({
  staleness: z.number().catch(0),
  config: z.object({ url: z.string(), baseModel: z.string(), model: z.string() }).partial().catch({}),
});

export function computedBy({ engine, config }: Pick<Run, "engine" | "config">): Computed {
  return { engine, staleness: stated.catch({ staleness: 0, config: {} }).parse(config).staleness };
}

/** "tinker engine, qwen at http://10.0.0.1:8000, rollouts up to 1 iteration ahead of learning". */
export function computedInWords({ engine, config }: Pick<Run, "engine" | "config">): string {
  const { staleness, config: told } = stated.catch({ staleness: 0, config: {} }).parse(config);
  const model = told.baseModel ?? told.model;
  return [
    `${engine} engine`,
    ...(told.url === undefined ? [] : [`${model === undefined ? "" : `${model} `}at ${told.url}`]),
    ...(staleness > 0
      ? [`rollouts up to ${staleness} ${staleness === 1 ? "iteration" : "iterations"} ahead of learning`]
      : []),
  ].join(", ");
}
