/** What engines share in answering a request: validation, and the end of a reply. */

import type { TokenRows } from "../core/batch.ts";
import { rowCount } from "../core/batch.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Codec, SampleRequest } from "../core/model.ts";
import type { StopReason } from "../core/types.ts";

/**
 * @throws WhetstoneError `option.range`. Ids are not checked against the vocabulary.
 */
export function requireOptions({
  maxTokens,
  temperature = 1,
  topK = 1,
  topP = 1,
  minP = 0,
  allowed = [],
  choices,
  mix,
}: Omit<SampleRequest, "mix"> & { readonly mix?: { readonly share: number } }): void {
  const empty = allowed.some((ids) => ids.length === 0);
  const both = allowed.length > 0 && choices !== undefined;
  const good =
    Number.isInteger(maxTokens) &&
    maxTokens > 0 &&
    temperature >= 0 &&
    Number.isInteger(topK) &&
    topK > 0 &&
    topP > 0 &&
    topP <= 1 &&
    minP >= 0 &&
    minP <= 1 &&
    !empty &&
    !both &&
    (mix === undefined || (mix.share >= 0 && mix.share <= 1));
  if (good) return;
  const more = `${empty ? ", no allowed id somewhere" : ""}${both ? ", both allowed and choices" : ""}${mix ? `, a share of ${mix.share}` : ""}`;
  throw new WhetstoneError("option.range", {
    where: "sample",
    got: `maxTokens ${maxTokens}, temperature ${temperature}, topK ${topK}, topP ${topP}, minP ${minP}${more}`,
    expected:
      "maxTokens and topK from 1, temperature from 0, topP in (0, 1], minP and share in [0, 1], at least one allowed id per token",
    fix: "Leave out an option to sample from the full distribution.",
  });
}

/** The stop reason if a reply ends with its last token, else undefined. The caller enforces the length limit. */
export type Ends = (action: readonly number[]) => StopReason | undefined;

/** @param codec of the model. Only the last tokens of a reply are decoded, not the whole reply at each token. */
export function endsOf(
  { stop = [], stopTokens = [] }: Pick<SampleRequest, "stop" | "stopTokens">,
  codec: Pick<Codec, "endId" | "decode">,
): Ends {
  const ids = new Set(stopTokens);
  const longest = Math.max(0, ...stop.map((s) => s.length));
  // one character may take four tokens, and a marker is a token without text
  const tail = 4 * longest + 8;
  return (action) => {
    const last = action.at(-1)!;
    if (last === codec.endId) return "eos";
    if (ids.has(last)) return "stop";
    if (stop.length === 0) return undefined;
    const text = codec.decode(Int32Array.from(action.slice(-tail)));
    return stop.some((s) => text.includes(s)) ? "stop" : undefined;
  };
}

/** @throws WhetstoneError `context.tooLong` for a row that is longer than a model's context. */
export function requireFit(rows: TokenRows, id: string, contextTokens: number): void {
  for (let r = 0; r < rowCount(rows); r++) {
    const length = rows.rowOffset[r + 1]! - rows.rowOffset[r]!;
    if (length <= contextTokens) continue;
    throw new WhetstoneError("context.tooLong", {
      where: `model "${id}"`,
      got: `a row of ${length} tokens`,
      expected: `at most ${contextTokens}`,
      fix: "Limit the turns of an episode or make the model with a longer context.",
    });
  }
}

/** Runs tasks one after another in the order of the calls, whether or not earlier ones failed. */
export function oneByOne(): <T>(work: () => Promise<T>) => Promise<T> {
  let turn: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = turn.then(work, work);
    turn = result.catch(() => undefined);
    return result;
  };
}
