import { diagnostic } from "../../../method/entry.ts";

export const treeRm = diagnostic({
  id: "tree-rm",
  family: "judges",
  summary: "preference data from leaves of prefix trees in place of independent pairs, at equal annotations",
  paper: "Reward Generalization in RLHF: A Topological Perspective",
  law: "With the same number of comparisons, a reward model fitted to pairs of leaves of prefix trees ranks fresh replies better than one fitted to independent pairs.",
  mechanism:
    "Preference data are a graph: replies are nodes, and comparisons and similar rewards of similar replies are edges. How uncertain the inferred difference of two rewards is depends on the paths of evidence between them. Independent pairs leave long paths. If replies to a prompt are generated as a tree that branches inside the text, and leaves that share beginnings are compared, paths become shorter. The loss of the reward model is unchanged. Pairs need a last common ancestor at every depth: siblings alone say nothing about beginnings.",
  equation: [
    "tree: from every prefix B continuations by a segment, D times; a reply is a path from root to leaf",
    "pairs: depth of the last common ancestor uniform, or leaves uniform; equal leaves are left out",
    "L = −mean ln σ(r(x, y_w) − r(x, y_l))                      unchanged",
    "d(a, b) = Var[r(b) − r(a)]: variances add along a path, parallel paths combine as 1 / Σ 1/variance",
  ].join("\n"),
  source:
    "trees, leaf pairs, unchanged loss and inference distance from public notes of the paper; B = 3, D = 3, the path rule as effective resistance, and the linear reward model are ours. The asymptotic bounds are not tested. It has no slots: rollouts here branch between turns and not inside a reply",
});
