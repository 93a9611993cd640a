/** Turns from samples and from scripts. */
import type { Codec, Sample } from "../../core/model.ts";
import type { Message, ModelId, Role, Turn } from "../../core/types.ts";

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

/** The text of each token by itself; special tokens have none. */
export const tokenTexts = (codec: Pick<Codec, "decode">, tokens: Int32Array): string[] =>
  Array.from(tokens, (id) => codec.decode(Int32Array.of(id)));

/** Everything that was said before a turn, one message a line. */
export const conversation = ({ prompt }: Turn): string =>
  prompt.map((m) => `${m.role}: ${m.content}`).join("\n");

/** The last thing that was said before a turn, for worlds that say their whole state each time. */
export const lastMessage = ({ prompt }: Turn): string => prompt.at(-1)?.content ?? "";
