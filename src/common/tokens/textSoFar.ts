/** The text of a reply while its tokens arrive. */
import type { Codec } from "../../core/model.ts";

/** Tokens that a character may take. Above this, the bytes are none. */
const mostPerCharacter = 8;

/**
 * Takes a token and returns the text so far, without a character of which tokens are missing. Each token is decoded with the few
 * before it, since decoders join neighbours, and not with the whole reply.
 */
export function textSoFar(codec: Pick<Codec, "decode">): (token: number) => string {
  let text = "";
  /** The tokens of the last addition, and those since. */
  let [before, pending]: [readonly number[], readonly number[]] = [[], []];
  return (token) => {
    pending = [...pending, token];
    const known = codec.decode(Int32Array.from(before));
    const all = codec.decode(Int32Array.from([...before, ...pending]));
    const isPart = all.endsWith("\ufffd") && pending.length <= mostPerCharacter;
    if (all.length <= known.length || isPart) return text;
    text += all.slice(known.length);
    [before, pending] = [pending, []];
    return text;
  };
}
