import type { Rollout } from "../../../core/slots.ts";
import { verdictCritique, verdictQuestion } from "../../../evaluator/verdictCritique.ts";
import { method } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { type CritiquedOptions, critiqued } from "../../../rollout/critiqued.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { attemptWords } from "../../../rollout/retryWithFeedback.ts";
import { judging, refining } from "./refinementFeedback.ts";

/** The policy attempts and refines, and a separate critic writes. */
export const refereed = (
  { groupSize, temperature }: Settings,
  options: Pick<CritiquedOptions, "refinements" | "rate">,
): Rollout =>
  critiqued(multiTurn({ groupSize: 1, temperature }), {
    writer: verdictCritique({ temperature }),
    critiques: groupSize,
    temperature,
    ...options,
  });

export const refcritic = method({
  id: "refcritic",
  family: "judges",
  summary: "trains a critic on its verdicts and on how often refinements of wrong attempts come out right",
  paper: "RefCritic: Training Long Chain-of-Thought Critic Models with Refinement Feedback",
  mechanism:
    "An actor stays as it is, and a critic learns. A critique ends in a verdict and says what to do otherwise. At first it is paid for a true verdict alone. Then a critique that rightly calls an attempt wrong is also paid the share of right ones among several refinements, so that its suggestions have to be of use. Attempts that are called right are not refined, and a false alarm is paid nothing however well it ends.",
  equation: [
    "c ~ critic(· | x, y),   y′_1 … y′_M ~ actor(· | x, y, c);   v: verdict in c, o: y is right",
    "R_j = 1[v = o]                                             an unparsable critique gets 0",
    "R_r = mean of 1[y′_i right] where v and o say wrong, else 0",
    "R = R_j in the first stage,   R_j + λ R_r in the second;   A = (R − mean R) / std R over the critiques on y",
  ].join("\n"),
  source:
    "reconstructed from the paper's abstract; M = 8, λ = 1, four critiques on each attempt and 30 iterations of the first stage are ours. Its imitation of filtered long critiques, the choice of questions, and voting among the attempts that the critic lets pass are left out",
  models: { critic: { from: "policy" } },
  needs: ["fork"],
  says: [`${attemptWords} ${verdictQuestion} RIGHT WRONG`],
  defaults: { groupSize: 4 },
  options: {
    stage: { help: "iterations of the first stage", default: 30, low: 0, high: 1e9, whole: true },
    refinements: {
      help: "M, refinements of an attempt that is called wrong",
      default: 8,
      low: 1,
      high: 1000,
      whole: true,
    },
    lambda: { help: "λ, weight of the refinements", default: 1, low: 0, high: 100 },
  },
  slots: (s) => ({ rollout: refereed(s, { refinements: 0, rate: judging }) }),
  phases: (s, { stage, refinements, lambda }) => [
    {
      name: "refining",
      from: stage,
      slots: { rollout: refereed(s, { refinements, rate: refining(lambda) }) },
    },
  ],
});
