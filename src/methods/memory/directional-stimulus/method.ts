import { constant } from "../../../advantage/constant.ts";
import { anchorDivergence } from "../../../feedback/anchorDivergence.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { demonstrated } from "../../../rollout/demonstrated.ts";

/** Practice before: the hints that the environment's flawed player writes, imitated. */
export const pseudoHints = (): SlotChoices => ({
  rollout: demonstrated({ player: "flawed" }),
  advantage: constant(),
  objective: likelihood(),
});

export const directionalStimulus = method({
  id: "directional-stimulus",
  family: "memory",
  summary: "a small policy learns to write the hint under which a large frozen one does well",
  paper: "Guiding Large Language Models via Directional Stimulus Prompting",
  mechanism:
    "The large model stays as it is, seen through its replies alone. For every task a small policy writes a hint, such as keywords, which is put into the large one's prompt. It first imitates hints taken from reference answers, and then is paid for how well the large model does under its own, less the price of going away from what it imitated. So it learns which hints this model makes use of, and not which ones look right.",
  equation: [
    "R(x, z) = mean over k of r(y_j),  y_j ~ LLM(· | x, z)          z ~ π(· | x): the hint",
    "R'(x, z) = R − β (ln π(z) − ln π₀(z))                          π₀: the policy as practice began",
    "β ← β (1 + 0.1 clip((KL − 0.5) / 0.5, −0.2, 0.2))              once per iteration; KL: mean over its hints, nats",
  ].join("\n"),
  source:
    "β₀, the target and the clip from the paper's code, β for its rewards of 0 to 10 divided by ten here, and the gain ours. The environment `guided` holds the large model and k. In place of NLPO, PPO within a token mask with a value network, the baseline's clipped ratios over a group of hints for one task; the reward for single words of a hint is left out (ours)",
  frozen: { reference: {} },
  needs: ["freeze"],
  slots: {
    feedback: [outcome(), anchorDivergence({ coefficient: 0.0005, target: { nats: 0.5, gain: 0.1 } })],
  },
});
