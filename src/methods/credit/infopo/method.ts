import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { fromAnnotation } from "../../../feedback/fromAnnotation.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { gatedIntrinsic } from "./gatedIntrinsic.ts";
import { replyInfluence } from "./replyInfluence.ts";

export const infopo = method({
  id: "infopo",
  family: "credit",
  summary:
    "rewards a turn by how much its reply changes the next action, while the group's outcomes are alike",
  paper: "InfoPO: Information-Driven Policy Optimization for User-Centric Agents",
  mechanism:
    "The next action is scored once after the real reply and once after an empty one. The difference is the intrinsic reward of the turn that asked for the reply. Its advantage is added to the outcome's through a gate, which is open while a group's outcomes are all alike and closes when they differ.",
  equation: [
    "I[k] = (1/|a'|) (ln π(a' | …, o[k]) − ln π(a' | …, empty))      a': the next action, o: the reply",
    "v = I[k] / |a[k]| on the tokens of turn k;  a = (v − mean) / std over the group's v ≠ 0",
    "A = z(outcome) + β σ(−std(outcomes) / T) a                      β = 0.1, T = 0.05",
  ].join("\n"),
  source:
    "β and T from the paper's code, whose bound on the intrinsic part is never active and is left out; the placeholder is an empty message instead of a sentence, because not every vocabulary contains that sentence (ours); β does not decay",
  options: {
    weight: { help: "β, share of the intrinsic advantage", default: 0.1, low: 0 },
    gate: {
      help: "deviation of outcomes at which the intrinsic share has fallen from 0.5 to 0.27",
      default: 0.05,
      low: 1e-6,
    },
  },
  slots: (_s, o) => ({
    annotate: replyInfluence(),
    feedback: [fromAnnotation({ note: "influence" }), outcome()],
    credit: perTurn(),
    advantage: [
      groupNormalised({ channels: ["outcome"] }),
      gatedIntrinsic({ channel: "influence", weight: o.weight, temperature: o.gate }),
    ],
  }),
});
