import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { entropyBonus } from "../../../objective/entropyBonus.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { calculator } from "./calculator.ts";
import { type SolverVerifierOptions, solverVerifier, verifierQuestion } from "./solverVerifier.ts";

/** Solver and verifier with another tool. */
export const verified =
  (options: Omit<SolverVerifierOptions, "groupSize">) =>
  ({ groupSize, temperature, clipLow, clipHigh }: Settings): SlotChoices => ({
    rollout: solverVerifier({ groupSize, temperature, ...options }),
    feedback: turnRewards({ rewards: ["process", "final"] }),
    objective: [
      clippedRatio({ clip: { low: clipLow, high: clipHigh } }),
      klPenalty({ coefficient: 0.001 }),
      entropyBonus({ coefficient: 0.01 }),
    ],
  });

export const agent0Vl = method({
  id: "agent0-vl",
  family: "self-play",
  summary: "no labels: one policy solves, verifies its steps with a tool, and repairs those it is unsure of",
  paper: "Agent0-VL: Exploring Self-Evolving Agent for Tool-Integrated Vision-Language Reasoning",
  mechanism:
    "One policy has two roles. As solver it works in steps; as verifier it reads each step and what a tool says about it, and says whether it is right and how sure it is. Scores times confidence are step rewards, and a verdict that goes against its tool is punished. The first step of low confidence is tried again from the verdict, at a small cost. Both roles' words are trained on the return, and no label is read. A verifier that is paid by its own scores may learn to praise: the tool, the divergence from the reference and a look at audited steps stand against it.",
  equation: [
    "rp_t = λ_tool r(tool_t) + score_t · conf_t − β_div D_t          r_t = rp_t − σ(κ (τ_c − conf_t)) · C  where step t was repaired, κ = 10",
    "G = r_out + Σ_t γ^(t−1) r_t;   A = (G − mean) / std over N attempts, on the words of solver and verifier",
    "loss = L_GRPO + 0.001 · KL(π ‖ π_ref) − 0.01 · entropy",
  ].join("\n"),
  source:
    "rewards, gate, N, λ_tool, τ_c, C, γ and the weights of KL and entropy from the released code; κ, β_div, α_out = 1, the sign of r(tool), the confidence of words (1 and ½) and one repair in an attempt are ours. The verifier is always told what the tool says and does not choose to call it; the default tool calculates equations in the text. Left out: pictures, the two supervised stages, and the start of each of three rounds from the last checkpoint (a run goes on)",
  frozen: { reference: {} },
  needs: ["freeze", "entropy"],
  says: [verifierQuestion, "calculator : + - * / = RIGHT WRONG SURE UNSURE\n"],
  options: {
    repair: { help: "whether steps of low confidence are tried again", default: true },
    threshold: { help: "τ_c, confidence below which a step is low", default: 0.7, low: 0, high: 1 },
    repairCost: { help: "C, what a repair costs at most", default: 0.05, low: 0 },
    toolReward: { help: "λ_tool, worth of a verdict that says what the tool says", default: 0.3, low: 0 },
    divergence: { help: "β_div, weight of the verdicts' divergence, per nat", default: 0.05, low: 0 },
    discount: { help: "γ per step", default: 0.99, low: 0, high: 1 },
  },
  slots: (s, own) => verified({ tool: calculator, ...own })(s),
});
