import { uniform } from "../../../data/uniform.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { dynamicSampling } from "./dynamicSampling.ts";
import { overlong } from "./overlong.ts";

/** Candidate tasks drawn per group of the batch. */
const candidates = 3;

export const dapo = method({
  id: "dapo",
  family: "baseline",
  summary: "GRPO with a higher upper clip, groups with mixed outcomes only, mean over tokens, length penalty",
  paper: "DAPO: An Open-Source LLM Reinforcement Learning System at Scale",
  mechanism:
    "Four changes to GRPO. A higher upper bound lets the probability of rare tokens rise, which preserves entropy. Groups whose attempts all have the same reward give no gradient and are replaced by groups of further tasks, so every batch has the same size. The loss is the mean over all tokens, so long attempts count in proportion to their length. Near the length limit the penalty grows with each token instead of applying all at once.",
  equation: [
    "loss = −mean over tokens of min(ρ A, clamp(ρ, 1 − ε_low, 1 + ε_high) A)      ε_low = 0.2, ε_high = 0.28",
    "keep a group  ⇔  0 < std(R)",
    "R = R_paid − clamp((length − (L − C)) / C, 0, 1)                             L: longest sequence, C = L/5",
  ].join("\n"),
  source:
    "bounds and C/L from the paper; up to three times the tasks of a batch are tried to fill it (ours; the paper's code draws up to ten batches); no KL penalty towards a reference, as in the paper",
  defaults: { clipHigh: 0.28 },
  slots: (s) => ({
    data: uniform({ tasks: candidates * s.tasks }),
    rollout: dynamicSampling(multiTurn({ groupSize: s.groupSize, temperature: s.temperature }), {
      groups: s.tasks,
    }),
    feedback: [outcome(), overlong()],
    objective: clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh }, deadGroups: "leaveOut" }),
  }),
});
