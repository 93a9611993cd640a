/** Replies that must be one of a list, as a tree of tokens. */
import { WhetstoneError } from "../core/errors.ts";

/** A place in the tree. One without ids is the end of a reply. */
export interface Choice {
  /** What may come next, ascending. */
  readonly ids: Int32Array;
  readonly next: ReadonlyMap<number, Choice>;
}

/**
 * @param choices whole replies in tokens. A reply ends with the last token of one, so none may begin with another.
 * @throws WhetstoneError `option.range` if one does, if one is empty, or if there are none.
 */
export function choiceTree(choices: readonly Int32Array[]): Choice {
  const tree = grow(choices, 0);
  if (choices.length > 0 && tree.ids.length > 0) return tree;
  throw refused(choices.length === 0 ? "an empty list" : "an empty choice");
}

/** The tree of choices that are alike in their first `depth` tokens. */
function grow(choices: readonly Int32Array[], depth: number): Choice {
  if (choices.every((ids) => ids.length === depth)) return { ids: new Int32Array(), next: new Map() };
  const short = choices.find((ids) => ids.length === depth);
  if (short) throw refused(`[${short}], with which another choice begins`);
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
    expected: "one or more choices with tokens, none the beginning of another",
    mend: "End every choice with the codec's end token.",
  });
