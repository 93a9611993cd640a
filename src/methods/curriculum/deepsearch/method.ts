import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { searched, treeCredit } from "./searched.ts";

export const deepsearch = method({
  id: "deepsearch",
  family: "curriculum",
  summary:
    "searches a tree of turns for tasks not solved yet, and credits each turn by the value of its node",
  paper:
    "DeepSearch: Overcome the Bottleneck of Reinforcement Learning with Verifiable Rewards via Monte Carlo Tree Search",
  mechanism:
    "The attempts at a task that was never solved form a tree, whose nodes are turns. The search expands a node into several next turns and goes down by a local rule of upper confidence. When an attempt ends, its verdict is backed up, and the search goes on from the best node of the whole frontier instead of the root. The values of the nodes become the credit of their turns. A solved task is trained on plain attempts, with a stored success among them.",
  equation: [
    "down: argmax Q(c) + λ √(ln N(parent) / N(c));   after a leaf: argmax l₁ tanh Q(parent) + l₂ H(c) + l₃ √(depth / most)",
    "back up v = ±1 at depth i of l:  g = max((i + 1)/l, 0.1);  W ← g v where W v < 0 < v, W stays where W v < 0 > v, else W + g v",
    "A[turn j] = q(node j) − mean of q over the leaves;   q = W at a leaf, tanh W inside",
  ].join("\n"),
  source:
    "rules, weights and credit from the paper's code: width 8, λ = 2, l₁ = 0.4, l₃ = 0.01, the entropy term l₂ off, 8 leaves. A segment is a turn in place of 256 tokens; a shared turn is trained on once per leaf; rounds by pass rate, the dual clip and the penalty on length are left out",
  defaults: { clipLow: 0.2, clipHigh: 0.28 },
  options: {
    width: { help: "next turns of an expanded node", default: 8, low: 1, whole: true },
    exploration: { help: "λ of the local rule", default: 2, low: 0, high: 100 },
    entropy: { help: "l₂, weight of a turn's surprise in the frontier", default: 0, low: 0, high: 100 },
    depth: { help: "turns after which an attempt counts as incomplete", default: 64, low: 1, whole: true },
    stored: {
      help: "stored successes among the attempts at a solved task; −1 searches every task",
      default: 1,
      low: -1,
      whole: true,
    },
  },
  slots: (s, options) => ({
    rollout: searched({ leaves: s.groupSize, temperature: s.temperature, ...options }),
    feedback: treeCredit(),
    credit: perTurn(),
    advantage: returnsToGo({ discount: 0, baseline: "none" }),
    objective: clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }),
  }),
});
