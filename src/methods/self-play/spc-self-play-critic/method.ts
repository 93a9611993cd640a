import { constant } from "../../../advantage/constant.ts";
import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { verdictQuestion } from "../../../evaluator/verdictCritique.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { restricted } from "../../../objective/restricted.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { byCompletions } from "./completions.ts";
import { type StepGameOptions, sneakyQuestion, stepGame } from "./stepGame.ts";

/**
 * The game between a sneaky generator and the policy as critic.
 * @param weights `pace`: of the generator's rewards, as a multiple of the critic's. `imitation`: of the examples' likelihood.
 */
export const sneaked =
  (options: StepGameOptions, { pace, imitation }: { readonly pace: number; readonly imitation: number }) =>
  ({ groupSize, temperature, clipLow, clipHigh }: Settings): SlotChoices => ({
    rollout: stepGame(multiTurn({ groupSize, temperature, models: { agent: "solver" } }), {
      temperature,
      ...options,
    }),
    feedback: turnRewards({ rewards: ["verdict", "fooled"], weights: { fooled: pace } }),
    // examples have no reward, and are in the batch all the same
    advantage: [constant(0), returnsToGo({ baseline: "none" })],
    objective: [
      restricted(
        clippedRatio({ level: "sequence", normaliser: "rows", clip: { low: clipLow, high: clipHigh } }),
        ["sampled"],
      ),
      restricted(likelihood({ normaliser: "rows", coefficient: imitation }), ["demonstrated"]),
    ],
  });

export const spcSelfPlayCritic = method({
  id: "spc-self-play-critic",
  family: "self-play",
  summary: "a sneaky generator hides errors in right steps, and the policy learns to find them",
  paper: "SPC: Evolving Self-Play Critic via Adversarial Games for LLM Reasoning",
  mechanism:
    "Two copies of a model play about single steps. A sneaky generator rewrites a right step of a solver's attempt into a subtly wrong one; the policy reads a step and says whether it is right. A rewritten step counts only if the solver succeeds clearly less often after it. Who wins gets 1 and who loses −1, so that the generator looks for the errors that are missed, and the critic learns those. As many right steps are judged, since otherwise calling everything wrong would be best.",
  equation: [
    "t′ ~ sneaky(· | x, t_1 … t_k);   an error iff success after t_k ≥ 0.75 and after t′ ≤ 0.5, of N = 4 completions",
    "R(critic) = 1 for a true verdict, else −1;   R(sneaky) = −R(critic) on an error, −1 where t′ is none",
    "ρ = exp(mean over tokens of ln π/π_k);   π_k: the policies of the round's beginning",
    "loss = −mean min(ρ R, clip(ρ, 1 − ε, 1 + ε) R) + 0.15 · mean over examples of −mean ln π          ε = 0.2",
  ].join("\n"),
  source:
    "loss, rewards as advantages, ε, 0.15 and three epochs from the paper's code; N and the thresholds are ours. A round is an iteration here. The solver is a frozen copy of the starting policy. Left out: the supervised start of both roles (`sneaked` takes its examples, which are imitated in every round; by default there are none), kinds of errors to choose from, generators of earlier rounds, and search with the critic",
  models: { sneaky: { from: "policy" } },
  frozen: { solver: {} },
  needs: ["fork", "freeze"],
  says: [sneakyQuestion, `${verdictQuestion} RIGHT WRONG`],
  defaults: { epochs: 3 },
  options: {
    completions: { help: "N, completions after a step", default: 4, low: 1, high: 1000, whole: true },
    pace: {
      help: "weight of the generator's rewards, as a multiple of the critic's",
      default: 1,
      low: 0,
      high: 1000,
    },
  },
  slots: (s, { completions, pace }) =>
    sneaked({ isError: byCompletions({ solver: "solver", completions }) }, { pace, imitation: 0.15 })(s),
});
