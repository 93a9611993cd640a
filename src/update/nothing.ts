import type { Update } from "../core/slots.ts";

/** Leaves the weights unchanged: for inference-time methods, and for baseline curves. */
export function nothing(): Update {
  return async () => ({ steps: 0 });
}
