import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { question, selfJudged } from "./selfJudged.ts";

export const ssrZero = method({
  id: "ssr-zero",
  family: "self-play",
  summary:
    "the policy scores its own replies from 0 to 100 under a judge's prompt, and is trained on the scores",
  paper: "SSR-Zero: Simple Self-Rewarding Reinforcement Learning for Machine Translation",
  mechanism:
    "One model acts and judges. As actor it writes several replies to a request; as judge, with another prompt and without a reference, it thinks about each and gives a score. The score of the current weights is the reward, and only the actor's tokens are trained. To recognise a good reply is easier than to write one, so that the replies can come up to what the judge sees, and no further. Comparison within a group hides whether all scores rise, and not whether they still tell good from bad: watch the judge on a fixed set.",
  equation: [
    "s ~ π(· | judge, x, y), cut to [0, 100];   r = f · s/100          f: 1 for a reply in the format, else 0",
    "with a metric m:  r = f · (s/100 + m) / 2",
    "A = (r − mean r) / std r over the group;  loss = −mean over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A) + 0.001 · KL(π ‖ π_ref)",
  ].join("\n"),
  source:
    "roles, scores without a reference and thinking before scoring from a review of the paper; how format, score and metric are combined is reconstructed. The wording, one judgement drawn at temperature 1 and the coefficient 0.001 are ours",
  says: [question("", ""), "0 10 20 30 40 50 60 70 80 90 100"],
  frozen: { reference: {} },
  needs: ["freeze"],
  options: {
    judge: {
      help: "whose weights judge: the policy's as they are now, or as they were at first",
      default: "policy",
      oneOf: ["policy", "reference"],
    },
    samples: { help: "judgements of each reply", default: 1, low: 1, high: 64, whole: true },
    kl: { help: "coefficient of the KL penalty towards the reference, per nat", default: 0.001, low: 0 },
  },
  slots: ({ clipLow, clipHigh }, { judge, samples, kl }) => ({
    feedback: selfJudged({ judge, samples }),
    objective: [clippedRatio({ clip: { low: clipLow, high: clipHigh } }), klPenalty({ coefficient: kl })],
  }),
});
