import { method } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { nothing } from "../../../update/nothing.ts";
import { bestOf } from "./bestOf.ts";

export const bestOfN = method({
  id: "best-of-n",
  family: "baseline",
  summary: "best of n: samples several attempts per task and returns the best; nothing is trained",
  paper: "Learning to summarize from human feedback",
  mechanism:
    "The weights do not change. Every task is attempted n times, the environment's reward ranks the attempts, and only the best one counts. The score shows what selection alone gains from n times the samples: training on the same samples has to exceed it, and it is an upper bound for imitating the best of n once.",
  equation: [
    "y* = argmax_k R(x, y_k)                        y_1 … y_n ~ π(· | x)",
    "KL(best of n ‖ π) ≤ ln n − (n − 1)/n",
  ].join("\n"),
  source: "n is the group size; the environment's own reward replaces the reward model (ours)",
  slots: ({ groupSize, temperature }) => ({
    rollout: bestOf(multiTurn({ groupSize, temperature })),
    update: nothing(),
  }),
});
