/** Validates token ids, on either side of the engine thread. */
import { WhetstoneError } from "../../core/errors.ts";

/** A negative id would silently index from the end of the vocabulary. */
export function requireTokens(where: string, ids: Int32Array, vocabulary: number): void {
  const bad = ids.find((id) => id < 0 || id >= vocabulary);
  if (bad === undefined) return;
  throw new WhetstoneError("tokenizer.unknownToken", {
    where,
    got: `the token id ${bad}`,
    expected: `ids from 0 to ${vocabulary - 1}`,
    fix: "Make token ids with the codec of the model that reads them.",
  });
}
