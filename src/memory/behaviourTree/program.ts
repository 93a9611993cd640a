import type { ProgramPolicy } from "../../core/context.ts";
import { present } from "../../core/errors.ts";
import type { Message } from "../../core/types.ts";
import { readSituation, type Seen } from "./situation.ts";
import { type RunOptions, running } from "./tick.ts";
import { type Node, type Situation, showTree } from "./tree.ts";

/** Settings of {@link treeProgram}. */
export interface ProgramOptions extends RunOptions {
  /** Which skill a neural node chooses. */
  readonly neural?: Readonly<Record<string, (seen: Situation) => string>>;
}

/**
 * A tree as a player of worlds that speak as `readSituation` reads. Where a conversation has led the tree is found by
 * running it again over what was seen, so that it plays from any prefix; equal conversations, equal skills.
 * @throws WhetstoneError `shape.mismatch` for a neural node that has no function.
 */
export function treeProgram(tree: Node, options: ProgramOptions): ProgramPolicy {
  // a world says the same few things over and over
  const read = new Map<string, Seen>();
  const situationIn = ({ content }: Message): Seen => {
    const seen = read.get(content) ?? readSituation(content);
    read.set(content, seen);
    return seen;
  };
  return {
    name: showTree(tree),
    act(_task, conversation) {
      const heard = conversation.filter(({ role }) => role === "user").map(situationIn);
      const [first = { facts: new Set<string>() }, ...rest] = heard;
      const run = running(tree, first, options);
      let leaf = run.next().value;
      for (const seen of rest) leaf = run.next(seen).value;
      if (leaf.kind === "action") return leaf.skill;
      const choose = present(
        options.neural?.[leaf.name],
        `neural node ${leaf.name}`,
        "function of that name",
      );
      return choose(heard.at(-1) ?? first);
    },
  };
}
