/** Turns from samples and from scripts. */
import type { Codec, Sample } from "./model.ts";
import type { Message, ModelId, Role, Turn } from "./words.ts";

/** The turn that a sample makes; rewards and text come once the environment has answered. */
export function sampledTurn(made: {
  readonly model: { readonly id: ModelId; readonly codec: Codec };
  readonly role: Role;
  /** Tokens that the model continued. */
  readonly prompt: Int32Array;
  readonly messages: readonly Message[];
  readonly sample: Sample;
  readonly stateKey?: string | undefined;
  readonly ms?: number;
}): Turn {
  const { model, role, prompt, messages, sample, stateKey, ms = 0 } = made;
  const { action, logp, behaviour, entropy, allowed } = sample;
  return {
    role,
    model: model.id,
    version: sample.version,
    prompt: messages,
    action: { role: "assistant", content: model.codec.decode(action) },
    tokens: { prompt, action, logp, behaviour, ...(entropy && { entropy }), ...(allowed && { allowed }) },
    spans: {},
    stop: sample.stop,
    rewards: {},
    ...(stateKey === undefined ? {} : { stateKey }),
    ms,
  };
}
