/** A model in an episode of a run. */
import type { Frozen, Model } from "../core/model.ts";
import type { ModelId } from "../core/types.ts";
import type { Seat } from "../rollout/episode.ts";

/** Whoever acts, in words or in tokens. */
export const seatOf = (id: ModelId, model: Model, stop?: AbortSignal): Seat =>
  model.chat ? { kind: "chat", id, chat: model.chat } : modelSeat(id, model, model.contextTokens, stop);

/** A stop ends its episode before its next action. */
export function modelSeat(
  id: ModelId,
  acting: Pick<Model | Frozen, "codec" | "sample">,
  contextTokens: number,
  stop?: AbortSignal,
): Seat {
  return {
    kind: "model",
    id,
    codec: acting.codec,
    contextTokens,
    async sample(requests) {
      stop?.throwIfAborted();
      return await acting.sample(requests);
    },
  };
}
