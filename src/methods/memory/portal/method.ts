import { method, type SlotChoices } from "../../../method/method.ts";
import { type TreeSearchOptions, treeSearch } from "./learner.ts";
import { mutator } from "./mutate.ts";

/** Facts and skills of the environment pursuit, and a simple initial tree for it. */
export const pursuitTrees = {
  first: "selector\n  sequence\n    if thief-beside\n    do grab\n  do chase\n  do go-to-door",
  idle: "rest",
  grammar: {
    facts: ["thief-here", "thief-beside", "at-door", "door-shut", "net-here", "has-net", "tired"],
    skills: ["chase", "grab", "go-to-door", "go-through", "shut-door", "open-door", "fetch-net", "rest"],
  },
} as const satisfies Omit<TreeSearchOptions, "rewrite">;

/** The method with any rewriter, such as `chatRewriter`, in any environment whose observations `readSituation` can parse. */
export const treesWrittenBy = (options: TreeSearchOptions): SlotChoices => treeSearch(options);

export const portal = method({
  id: "portal",
  family: "memory",
  summary: "the policy is a behaviour tree, rewritten from metrics and a description of its play",
  paper: "Agents Play Thousands of 3D Video Games",
  mechanism:
    "A language model writes the policy as a behaviour tree in a small language: rules for tactics, skills and neural nodes at its leaves. The tree is played; numbers and a description of what happened go back to the writer, which edits a node or restructures the tree. The best of the old tree and the new ones, on the same seeds, is kept. No gradients are used: the language keeps every proposal executable, and the description shows where the tree fails.",
  equation: [
    "tick: selector = first child that does not fail, sequence = until a child does not succeed; success, failure or running",
    "T[k+1] = argmax over {T[k], T'[1] … T'[B]} of w · m(T)     the same n seeds for all, a tie keeps T[k]; B = 4",
    "w · m = success − 0.005 turns",
  ].join("\n"),
  source:
    "language, two kinds of feedback and acceptance from the paper's description; their forms, B, the utility and the limits of 25 nodes and 6 levels are ours. By default the tree is for the environment pursuit and the writer is a stochastic grammar guided by the failed nodes; `treesWrittenBy` takes a language model instead",
  defaults: { tasks: 5 },
  slots: () => treesWrittenBy({ ...pursuitTrees, rewrite: mutator() }),
});
