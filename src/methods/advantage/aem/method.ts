import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { method } from "../../../method/method.ts";
import { entropyModulated } from "./entropyModulated.ts";

export const aem = method({
  id: "aem",
  family: "advantage",
  summary: "responses that the policy was sure of count more, those that it was unsure of less",
  paper: "AEM: Adaptive Entropy Modulation for Multi-Turn Agentic Reinforcement Learning",
  mechanism:
    "A step of natural gradient changes the entropy of a state by the covariance of advantage and surprisal. Sure responses that fail raise it, sure ones that succeed lower it. Scaling each response's advantage by how sure the policy was pushes the entropy up as long as failures prevail and down once successes do, without a schedule.",
  equation: [
    "u = mean entropy of a response's tokens,  û = (u − min) / (max − min)     over all responses of the group",
    "c = exp(−k û) / mean(exp(−k û))                                           k = 1",
    "A ← c · A                                                                 A: group-normalised, per episode",
  ].join("\n"),
  source:
    "proxy, normalisation and sign from descriptions of the paper; k and the set of all turns of a group ours",
  slots: { advantage: [groupNormalised(), entropyModulated()] },
});
