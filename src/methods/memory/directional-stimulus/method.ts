import { constant } from "../../../advantage/constant.ts";
import { anchorDivergence } from "../../../feedback/anchorDivergence.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { demonstrated } from "../../../rollout/demonstrated.ts";

/** The slots of the preceding imitation run, on hints that the environment's flawed player writes. */
export const pseudoHints = (): SlotChoices => ({
  rollout: demonstrated({ player: "flawed" }),
  advantage: constant(),
  objective: likelihood(),
});

export const directionalStimulus = method({
  id: "directional-stimulus",
  family: "memory",
  summary: "trains a small policy to write hints that improve a large frozen model",
  paper: "Guiding Large Language Models via Directional Stimulus Prompting",
  mechanism:
    "The large model is a frozen black box. For every task a small policy writes a hint, such as keywords, which is put into the large model's prompt. It first imitates hints taken from reference answers. Then it is rewarded by the large model's performance with its hints, minus a KL penalty towards the imitated policy. So it learns which hints this model uses, and not which ones look right.",
  equation: [
    "R(x, z) = mean over k of r(y_j),  y_j ~ LLM(· | x, z)          z ~ π(· | x): the hint",
    "R'(x, z) = R − β (ln π(z) − ln π₀(z))                          π₀: the policy at the start of RL",
    "β ← β (1 + 0.1 clip((KL − 0.5) / 0.5, −0.2, 0.2))              once per iteration; KL: mean over its hints, nats",
  ].join("\n"),
  source:
    "β₀, the target and the clip from the paper's code, with β, which is for rewards of 0 to 10, divided by ten here; the gain is ours. The environment `guided` holds the large model and k. In place of NLPO, PPO within a token mask with a value network, the baseline's clipped ratios over a group of hints for one task; the reward for single words of a hint is left out (ours)",
  frozen: { reference: {} },
  needs: ["freeze"],
  options: {
    kl: { help: "β₀, initial KL penalty per nat", default: 0.0005, low: 0 },
    nats: { help: "KL divergence that the penalty aims at, nats per hint", default: 0.5, low: 1e-6 },
  },
  slots: (_s, o) => ({
    feedback: [outcome(), anchorDivergence({ coefficient: o.kl, target: { nats: o.nats, gain: 0.1 } })],
  }),
});
