import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { byAttempt, foldedBack } from "./foldedBack.ts";

export const smartMetastrategy = method({
  id: "smart-metastrategy",
  family: "self-play",
  summary: "the attempt that finally worked is taught as the first one, so that one pass is enough later",
  paper: "SMART: Self-learning Meta-strategy Agent for Reasoning Tasks",
  mechanism:
    "The policy chooses a strategy and solves the problem with it. Where the solution is wrong, it may try others, with the failed attempts in its context. The attempt that finally succeeds is then taught as the answer to the bare problem, without the failures before it, so that the first choice improves and a single pass is enough at test time.",
  equation: [
    "chain: a_t, y_t ~ π(· | x, a_1, y_1, wrong, …, wrong),   until r_t = 1 or t = T",
    "P = {(x, a_t, y_t) : t is the first with r_t = 1}",
    "loss = −mean over P of w(t) · ln π(a_t, y_t | x)        w(1) = 1",
  ].join("\n"),
  source:
    "reconstructed from the abstract: fold-back, weights and the off-policy form. The environment has to offer retries (`tryAgain`). Without its warm start on every strategy, and without sampling a folded attempt again to verify it (both ours)",
  options: {
    late: { help: "w(t > 1), weight of attempts that were folded back", default: 1, low: 0 },
  },
  slots: ({ groupSize, temperature }, { late }) => ({
    rollout: foldedBack(multiTurn({ groupSize, temperature })),
    advantage: byAttempt({ late }),
    objective: policyGradient(),
  }),
});
