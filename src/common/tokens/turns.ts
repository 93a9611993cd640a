/** Makes turns from samples, and reads text from turns. */
import type { Codec, Sample } from "../../core/model.ts";
import type { Message, ModelId, Role, Turn, TurnTokens } from "../../core/types.ts";

/** Makes a turn from a sample. Rewards and text are added after the environment has answered. */
export function sampledTurn(made: {
  readonly model: { readonly id: ModelId; readonly codec: Codec };
  readonly role: Role;
  /** The prompt's tokens. */
  readonly prompt: Int32Array;
  readonly messages: readonly Message[];
  readonly sample: Sample;
  readonly stateKey?: string | undefined;
  readonly ms?: number;
}): Turn {
  const { model, role, prompt, messages, sample, stateKey, ms = 0 } = made;
  return {
    role,
    model: model.id,
    version: sample.version,
    prompt: messages,
    action: { role: "assistant", content: model.codec.decode(sample.action) },
    tokens: sampledTokens(prompt, sample),
    spans: {},
    stop: sample.stop,
    rewards: {},
    ...(stateKey === undefined ? {} : { stateKey }),
    ms,
  };
}

/** A sample with the prompt that it continues. */
export const sampledTokens = (
  prompt: Int32Array,
  { action, logp, behaviour, entropy, allowed }: Sample,
): TurnTokens => ({
  ...{ prompt, action, logp, behaviour },
  ...(entropy && { entropy }),
  ...(allowed && { allowed }),
});

/** The text of each token alone; "" for special tokens. */
export const tokenTexts = (codec: Pick<Codec, "decode">, tokens: Int32Array): string[] =>
  Array.from(tokens, (id) => codec.decode(Int32Array.of(id)));

/** The whole prompt of a turn, one message per line. */
export const conversation = ({ prompt }: Turn): string =>
  prompt.map((m) => `${m.role}: ${m.content}`).join("\n");

/** The last message before a turn, for worlds whose observations contain the whole state. */
export const lastMessage = ({ prompt }: Turn): string => prompt.at(-1)?.content ?? "";
