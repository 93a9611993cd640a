import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { method } from "../../../method/method.ts";
import { entropyModulated } from "./entropyModulated.ts";

export const aem = method({
  id: "aem",
  family: "advantage",
  summary: "scales advantages by entropy: confident responses count more, uncertain ones less",
  paper: "AEM: Adaptive Entropy Modulation for Multi-Turn Agentic Reinforcement Learning",
  mechanism:
    "A step of natural gradient changes the entropy of a state by the covariance of advantage and surprisal. Confident responses that fail raise it, confident ones that succeed lower it. Scaling each response's advantage by the policy's confidence raises entropy while failures prevail and lowers it once successes prevail, without a schedule.",
  equation: [
    "u = mean entropy of a response's tokens,  û = (u − min) / (max − min)     over all responses of the group",
    "c = exp(−k û) / mean(exp(−k û))                                           k = 1",
    "A ← c · A                                                                 A: group-normalised, per episode",
  ].join("\n"),
  source:
    "proxy, normalisation and sign from descriptions of the paper; k and normalising over all turns of a group are ours",
  options: {
    strength: {
      help: "k, how much more confident responses count; below 0 the reverse",
      default: 1,
      low: -100,
      high: 100,
    },
  },
  slots: (_s, o) => ({ advantage: [groupNormalised(), entropyModulated({ strength: o.strength })] }),
});
