import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";

export const gspo = method({
  id: "gspo",
  family: "baseline",
  summary: "one importance ratio per sequence: the geometric mean of the token ratios (GSPO)",
  paper: "Group Sequence Policy Optimization",
  mechanism:
    "The reward is given to the whole sequence, so the importance ratio and its clipping are per sequence as well. The ratio is the geometric mean of the token ratios, which keeps it in the same range at any length. All tokens of a sequence get the same weight, and the noise of single ratios does not add up over long sequences.",
  equation: [
    "s[i] = exp(mean over tokens of row i of (ln π(t) − ln π_old(t)))",
    "loss = −mean over rows of min(s A, clamp(s, 1 − ε_low, 1 + ε_high) A)",
  ].join("\n"),
  source:
    "ratio and mean over rows from the paper. Its bounds (3e-4 and 4e-4) are for responses of thousands of tokens, whose mean varies little; 0.1 and 0.13 are ours for actions of a few tokens, in the same proportion",
  defaults: { clipLow: 0.1, clipHigh: 0.13 },
  slots: (s) => ({
    objective: clippedRatio({
      level: "sequence",
      normaliser: "rows",
      clip: { low: s.clipLow, high: s.clipHigh },
    }),
  }),
});
