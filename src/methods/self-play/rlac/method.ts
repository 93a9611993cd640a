import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { type AdversaryOptions, adversary, checkQuestion } from "./adversary.ts";
import { quotedParts } from "./quotes.ts";

/** Both players' rewards: answers are compared with those of their task, checks within their own group. */
export const zeroSum: Pick<SlotChoices, "feedback" | "advantage"> = {
  feedback: [
    outcome({ rewards: ["survived"], channel: "survived" }),
    outcome({ rewards: ["caught"], channel: "caught" }),
  ],
  advantage: [
    groupNormalised({ channels: ["survived"] }),
    groupNormalised({ channels: ["caught"], scale: "none" }),
  ],
};

/** The game with a validator of one's own. */
export const adversarial =
  (options: AdversaryOptions) =>
  ({ groupSize, temperature }: Settings): SlotChoices => ({
    ...zeroSum,
    rollout: adversary(multiTurn({ groupSize, temperature }), { temperature, ...options }),
  });

export const rlac = method({
  id: "rlac",
  family: "self-play",
  summary: "a critic names the check that an answer may fail, and a validator decides it",
  paper: "RLAC: Reinforcement Learning with Adversarial Critic for Free-Form Generation Tasks",
  mechanism:
    "An answer could be verified by all of its checks, which are many. In their place a critic reads the answer and names the one that it is most likely to fail, and an external validator decides that one. The generator wins where the answer passes, the critic where the check is valid and fails. Both learn, so that the critic follows the generator's weak places, and verification stays at one call for each check.",
  equation: [
    "max over π, min over κ of E[R(x, y, c)],   y ~ π(· | x),   c ~ κ(· | x, y),   R = 0 where c is valid and y violates it, else 1",
    "generator: r_i = min over its N checks of R_ij,   A_i = (r_i − mean r) / std r over the answers to x",
    "critic: r_ij = 1 − R_ij,   A_ij = r_ij − mean r over the checks of y_i; where N = 1, over those of all answers to x",
  ].join("\n"),
  source:
    "the game, K = 8 and N = 2 from a note on the paper (K = 10 and N = 4 for biographies); that an answer has to pass all its checks is ours. The paper trains both players by DPO on pairs of answers and of checks; ours take the game's policy gradient, with which both came further in the check. Its validators look up facts and run tests; here a check quotes a part of the answer, and the environment's critique decides it",
  models: { critic: { from: "policy" } },
  needs: ["fork"],
  says: [checkQuestion],
  options: {
    checks: { help: "N, checks named for each answer", default: 2, low: 1, high: 1000, whole: true },
  },
  slots: (s, { checks }) => adversarial({ validate: quotedParts, checks })(s),
});
