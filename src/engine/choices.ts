/** A fixed set of allowed replies, as a prefix tree of tokens. */
import { WhetstoneError } from "../core/errors.ts";

/** A node of the tree. A node without ids ends a reply. */
export interface Choice {
  /** Token ids that may come next, ascending. */
  readonly ids: Int32Array;
  readonly next: ReadonlyMap<number, Choice>;
}

/**
 * @param choices whole replies in tokens. None may be a prefix of another, since a reply ends with its last token.
 * @throws WhetstoneError `option.range` if a choice is a prefix of another, if one is empty, or if there are none.
 */
export function choiceTree(choices: readonly Int32Array[]): Choice {
  const tree = grow(choices, 0);
  if (choices.length > 0 && tree.ids.length > 0) return tree;
  throw refused(choices.length === 0 ? "an empty list" : "an empty choice");
}

/** The tree of choices that share their first `depth` tokens. */
function grow(choices: readonly Int32Array[], depth: number): Choice {
  if (choices.every((ids) => ids.length === depth)) return { ids: new Int32Array(), next: new Map() };
  const short = choices.find((ids) => ids.length === depth);
  if (short) throw refused(`[${short}], a prefix of another choice`);
  const byId = Map.groupBy(choices, (ids) => ids[depth]!);
  return {
    ids: Int32Array.from(byId.keys()).sort(),
    next: new Map([...byId].map(([id, some]) => [id, grow(some, depth + 1)])),
  };
}

const refused = (got: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "sample, choices",
    got,
    expected: "one or more choices with tokens, none a prefix of another",
    fix: "End every choice with the codec's end token.",
  });
