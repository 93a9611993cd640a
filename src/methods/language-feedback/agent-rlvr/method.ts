import { constant } from "../../../advantage/constant.ts";
import { outcomePairs } from "../../../advantage/outcomePairs.ts";
import type { Able } from "../../../core/evaluator.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { pairwise } from "../../../objective/pairwise.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { retryWithFeedback } from "../../../rollout/retryWithFeedback.ts";
import { discreet } from "./discreet.ts";

/** Retries failed attempts with guidance and trains on preference pairs, with the guidance stripped or kept in context. */
export const guided =
  (critiquer: Able<"critique">, context: "stripped" | "kept" = "stripped") =>
  ({ groupSize, temperature }: Settings): SlotChoices => ({
    rollout: retryWithFeedback(multiTurn({ groupSize, temperature }), {
      critiquer: discreet(critiquer),
      keep: context === "stripped" ? "plain" : "advised",
      temperature,
    }),
    advantage: [constant(), outcomePairs({ rivals: 4 })],
    objective: pairwise({ beta: 0.1 }),
  });

export const agentRlvr = method({
  id: "agent-rlvr",
  family: "language-feedback",
  summary: "retries failed tasks with guidance and prefers verified successes over failures (DPO)",
  paper: "Agent-RLVR: Training Software Engineering Agents via Guidance and Environment Rewards",
  mechanism:
    "Where tasks are too hard to be solved unaided, outcome rewards have nothing to reinforce. A critiquer that knows the answer gives guidance on each failed attempt: a plan or what went wrong, never the answer itself. The task is then tried again with the guidance. Successes are verified like any attempt and preferred to the task's failures by direct preference optimisation, without the guidance in context, so the policy learns to succeed unaided. The next round begins from the new policy.",
  equation: [
    "τ₀ ~ π(· | x);  where it fails: g = guide(x, τ₀), τ₁ ~ π(· | x, g)",
    "pairs: w a verified success, l a verified failure of the task; up to 4 failures for each success",
    "h = ln π(w | x)/ref(w | x) − ln π(l | x)/ref(l | x)        action tokens only; ref: the policy at the iteration's start",
    "loss = −mean over pairs of ln σ(β h)                       β = 0.1",
  ].join("\n"),
  source:
    "guidance, verification and preference pairs from the paper; pairing, contexts, β and epochs are ours: guidance is stripped from both sides by default (`guided` keeps it on both, never on one); no test-time reward model, and attempts that mention the guidance are not filtered",
  defaults: { epochs: 4, minibatches: 1 },
  needs: ["freeze"],
  says: [],
  frozen: { reference: { blend: 1 } },
  learnsFrom: { kind: "rating", group: "task" },
  slots: guided(scriptedCritiquer({ detail: "answer" })),
});
