import { uniform } from "../../../data/uniform.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { dynamicSampling } from "./dynamicSampling.ts";
import { overlong } from "./overlong.ts";

/** Tasks at hand for each group that is wanted. */
const candidates = 3;

export const dapo = method({
  id: "dapo",
  family: "baseline",
  summary: "GRPO with a higher upper clip, groups that teach only, mean over tokens, soft length penalty",
  paper: "DAPO: An Open-Source LLM Reinforcement Learning System at Scale",
  mechanism:
    "Four changes to GRPO. A higher upper bound lets rare tokens rise, which keeps entropy. Groups whose attempts all come to the same teach nothing and are replaced by further tasks, so that every batch has the same size. The loss is the mean over all tokens, so that long attempts count by their length. And coming near the length limit costs a little more with each token, instead of everything at once.",
  equation: [
    "loss = −mean over tokens of min(ρ A, clamp(ρ, 1 − ε_low, 1 + ε_high) A)      ε_low = 0.2, ε_high = 0.28",
    "keep a group  ⇔  0 < std(R)",
    "R = R_paid − clamp((length − (L − C)) / C, 0, 1)                             L: longest sequence, C = L/5",
  ].join("\n"),
  source:
    "bounds and C/L from the paper; up to three times the tasks of a batch are tried for it, the paper's code draws ten batches (ours); no penalty towards a reference, as in the paper",
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
