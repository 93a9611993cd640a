/** Conversations as one growing token sequence, of models made from scratch and of published ones. */
import type { Codec } from "../../core/model.ts";
import { markerCodec } from "./markerCodec.ts";
import { templateCodec } from "./templateCodec.ts";
import { hasMarkers, type TokenizerFiles } from "./tokenizer.ts";

/** Caches codecs with chat templates, as `markerCodec` caches its own. */
const templated = new WeakMap<TokenizerFiles, Codec>();

/** The codec of a tokenizer: uses our own conversation form if it has our markers, else its chat template. */
export function chatCodec(files: TokenizerFiles): Codec {
  if (hasMarkers(files)) return markerCodec(files);
  const codec = templated.get(files) ?? templateCodec(files);
  templated.set(files, codec);
  return codec;
}
