/** A model of a run as the actor of a role. */
import type { Frozen, Model } from "../core/model.ts";
import type { ModelId } from "../core/types.ts";
import { type Actor, chatActor, modelActor } from "../rollout/actor.ts";

/** A model's actor: in text for a chat model, else in tokens. */
export const actorOf = (id: ModelId, model: Model, stop?: AbortSignal): Actor =>
  model.chat ? chatActor(id, model.chat) : tokenActor(id, model, model.contextTokens, stop);

/** @param stop ends the episode, also while an action is sampled where the engine can stop that. */
export const tokenActor = (
  id: ModelId,
  acting: Pick<Model, "codec" | "sample"> | Pick<Frozen, "codec" | "sample">,
  contextTokens: number,
  stop?: AbortSignal,
): Actor =>
  modelActor({
    id,
    codec: acting.codec,
    contextTokens,
    async sample(requests) {
      stop?.throwIfAborted();
      try {
        return await acting.sample(requests, stop && { gone: stop });
      } catch (e) {
        stop?.throwIfAborted();
        throw e;
      }
    },
  });
