/** A model in an episode of a run. */
import type { Frozen, Model } from "../core/model.ts";
import type { ModelId } from "../core/types.ts";
import type { Actor } from "../rollout/episode.ts";

/** Whoever acts, in words or in tokens. */
export const actorOf = (id: ModelId, model: Model, stop?: AbortSignal): Actor =>
  model.chat ? { kind: "chat", id, chat: model.chat } : modelActor(id, model, model.contextTokens, stop);

/** A stop ends its episode before its next action. */
export function modelActor(
  id: ModelId,
  acting: Pick<Model | Frozen, "codec" | "sample">,
  contextTokens: number,
  stop?: AbortSignal,
): Actor {
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
