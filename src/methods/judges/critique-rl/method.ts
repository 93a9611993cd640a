import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import { whitened } from "../../../advantage/whitened.ts";
import type { Annotate, Rollout } from "../../../core/slots.ts";
import { verdictCritique, verdictQuestion } from "../../../evaluator/verdictCritique.ts";
import { anchorDivergence } from "../../../feedback/anchorDivergence.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { type CritiquedOptions, critiqued } from "../../../rollout/critiqued.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { attemptWords } from "../../../rollout/retryWithFeedback.ts";
import { discriminating, helpful } from "./verdict.ts";

/** The policy attempts and refines, and a separate critic writes. */
export const criticised = (
  { groupSize, temperature }: Settings,
  options: Omit<CritiquedOptions, "writer" | "critiques">,
): Rollout =>
  critiqued(multiTurn({ groupSize: 1, temperature }), {
    writer: verdictCritique({ temperature }),
    critiques: groupSize,
    ...options,
  });

/** Leave-one-out over the critiques on one attempt, with a penalty on what changes since the stage's beginning. */
export const criticLearning = (kl: number): Pick<SlotChoices, "feedback" | "advantage"> => ({
  feedback: [outcome(), anchorDivergence({ coefficient: kl, channel: "outcome" })],
  advantage: [leaveOneOut(), whitened()],
});

/** From now on the critic is held near what it is now. */
const renewReference: Annotate = async (ctx) => {
  await ctx.frozen("reference").blend(ctx.model("critic"), 1);
  return {};
};

export const critiqueRl = method({
  id: "critique-rl",
  family: "judges",
  summary: "trains a critic first on its verdicts, then on what a frozen actor makes of its critiques",
  paper: "Critique-RL: Training Language Models for Critiquing through Two-Stage Reinforcement Learning",
  mechanism:
    "An actor stays as it is, and a critic learns. It reads an attempt and writes a critique with a verdict. In the first stage a critique is paid for a true verdict alone. In the second it is paid for the actor's success after the critique, with a bonus for a true verdict and −1 for a false one, while a penalty holds the critic near the first stage's. Paid for the actor's success alone, a critic learns to help, and calls right attempts wrong.",
  equation: [
    "c_k ~ critic(· | x, y), k = 1 … K;   y′_k ~ actor(· | x, y, c_k);   v: verdict in c_k, none if unparsable;   o, o′: y, y′ right",
    "stage 1: r = 1 if v = o, else −1",
    "stage 2: r = 1[o′] + β if v = o, else −1",
    "A_k = r_k − mean over j ≠ k of r_j, whitened over the batch;   r includes −κ ln(critic / critic at the stage's beginning)",
  ].join("\n"),
  source:
    "rewards, β = 0.2, K = 4 and κ = 0.01 from the paper's code; there the penalty is added token by token after the baseline, here it is part of the reward of a critique; a verdict is one of two words wherever it stands, and a critique with both has none; an attempt that is called right is kept without asking the actor, which saves its turn; 30 iterations of the first stage are ours",
  models: { critic: { from: "policy" } },
  frozen: { reference: {} },
  needs: ["fork", "freeze"],
  says: [`${attemptWords} ${verdictQuestion} RIGHT WRONG`],
  defaults: { groupSize: 4 },
  options: {
    stage: { help: "iterations of the first stage", default: 30, low: 0, high: 1e9, whole: true },
    bonus: { help: "β, reward of a true verdict in the second stage", default: 0.2, low: 0, high: 100 },
    kl: { help: "κ, penalty per nat on leaving the stage's first critic", default: 0.01, low: 0, high: 100 },
    retryTemperature: { help: "temperature at which the actor refines", default: 0, low: 0, high: 100 },
  },
  slots: (s, { kl, retryTemperature: temperature }) => ({
    ...criticLearning(kl),
    rollout: criticised(s, { refinements: 0, rate: discriminating, temperature }),
  }),
  phases: (s, { stage, bonus, retryTemperature: temperature }) => [
    {
      name: "helping",
      from: stage,
      slots: { rollout: criticised(s, { refinements: 1, rate: helpful(bonus), temperature }) },
    },
    { name: "helping", from: stage, until: stage + 1, slots: { annotate: renewReference } },
  ],
});
