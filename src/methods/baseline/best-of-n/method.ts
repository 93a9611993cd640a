import { method } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { nothing } from "../../../update/nothing.ts";
import { bestOf } from "./bestOf.ts";

export const bestOfN = method({
  id: "best-of-n",
  family: "baseline",
  summary: "best of n: attempts every task several times and hands over the best, learning nothing",
  paper: "Learning to summarize from human feedback",
  mechanism:
    "The weights stay as they are. Every task is attempted n times, the environment's verdict ranks the attempts, and only the best one counts. It shows what selection alone buys for n times the samples: a bar that training on the same samples has to pass, and an upper bound for imitating the best of n once.",
  equation: [
    "y* = argmax_k R(x, y_k)                        y_1 … y_n ~ π(· | x)",
    "KL(best of n ‖ π) ≤ ln n − (n − 1)/n",
  ].join("\n"),
  source: "n is the group size; the environment's own verdict stands for the reward model (ours)",
  slots: ({ groupSize, temperature }) => ({
    rollout: bestOf(multiTurn({ groupSize, temperature })),
    update: nothing(),
  }),
});
