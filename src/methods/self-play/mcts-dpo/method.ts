import { preferencePairs } from "../../../advantage/preferencePairs.ts";
import { method } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";
import { treeSearch } from "../../../rollout/treeSearch.ts";
import { stepPairs } from "./stepPairs.ts";

export const mctsDpo = method({
  id: "mcts-dpo",
  family: "self-play",
  summary: "tree search with the policy; at each step the best action is preferred to the worst (DPO)",
  paper: "Monte Carlo Tree Search Boosts Reasoning via Iterative Preference Learning",
  mechanism:
    "For each task the current policy searches a tree of reasoning steps, guided by its own probabilities and by the outcomes found so far. The search tells which step was good, where whole attempts only tell that something was. Along the best way, the action of the highest value is preferred to that of the lowest, and DPO is applied to these single steps. The next iteration searches with the updated policy.",
  equation: [
    "select a = argmax Q(s, a) + c p(a | s) √N(s) / (1 + N(s, a))      p = exp(Σ ln π / length^1.25)",
    "w, l = the actions of the highest and lowest Q(s, ·) at each s of the best way;  α = 1 / (N(w)/N(l) + 1)",
    "h = ln π(w)/π_old(w) − ln π(l)/π_old(l)                           tokens of this step alone",
    "loss = −mean over pairs of (1 − α) ln σ(β h) + α ln σ(−β h)        with smoothing, else α = 0",
  ].join("\n"),
  source:
    "selection, prior, pairs and label smoothing from the paper and its code (smoothing from memory), also that the root is searched four times as long and with twice the width. Ours: values are mean outcomes of episodes that are played to their end, where the paper adds the policy's confidence in an unfinished solution, a prompt that a small policy cannot answer; then Q and V are means, and every child has been visited. The reference is the policy that searched; β = 1, c = 0.1 and the sizes suit tables (the paper: c = 1 for values near 1). Smoothing is off: with as few simulations as here the visits are nearly equal, and α near 1/2 takes the gradient away",
  options: {
    simulations: { help: "simulations for each step of the walk", default: 6, low: 1, whole: true },
    width: { help: "actions sampled in a situation", default: 3, low: 1, whole: true },
    exploration: { help: "c, the weight of exploration", default: 0.1, low: 0 },
    beta: { help: "β, strength of the regularisation", default: 1, low: 1e-6, high: 1e6 },
    smoothing: { help: "whether labels are trusted by the visits of both sides", default: false },
  },
  slots: ({ temperature }, { simulations, width, exploration, beta, smoothing }) => ({
    rollout: treeSearch({
      ...{ simulations, width, temperature },
      first: 4,
      firstWidth: 2,
      rule: { kind: "puct", exploration },
      walk: true,
    }),
    feedback: stepPairs({ smoothing }),
    advantage: preferencePairs(),
    objective: pairwise({ beta, against: { sampled: 1 } }),
  }),
});
