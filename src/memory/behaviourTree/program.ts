import type { ProgramPolicy } from "../../core/context.ts";
import { present } from "../../core/errors.ts";
import type { Message } from "../../core/types.ts";
import { readSituation, type Seen } from "./situation.ts";
import { type RunOptions, running } from "./tick.ts";
import { type Node, type Situation, showTree } from "./tree.ts";

/** Settings of {@link treeProgram}. */
export interface ProgramOptions extends RunOptions {
  /** Functions that choose the skill of neural nodes, by name. */
  readonly neural?: Readonly<Record<string, (seen: Situation) => string>>;
}

/**
 * A tree as a policy for worlds whose observations `readSituation` parses. The tree's state is recomputed by running it over
 * the observations so far, so it can continue any conversation prefix; equal conversations give equal skills.
 * @throws WhetstoneError `shape.mismatch` for a neural node that has no function.
 */
export function treeProgram(tree: Node, options: ProgramOptions): ProgramPolicy {
  // a cache, since a world repeats the same few observations
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
