import { uniform } from "../../../data/uniform.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { withReplay } from "../../../rollout/withReplay.ts";
import { isWorthKeeping, reviving } from "./reviving.ts";
import { solvable } from "./solvable.ts";

export const arpoGui = method({
  id: "arpo-gui",
  family: "curriculum",
  summary: "puts a stored success of the task into a group in which every attempt failed",
  paper: "ARPO:End-to-End Policy Optimization for GUI Agents with Experience Replay",
  mechanism:
    "Whole episodes are trained with GRPO, and each task keeps its last successes. Where all attempts of a group fail alike, one of them is replaced by a stored success of the same task, so that the group has a difference to learn from. The replayed attempt is scored by the current policy before the update: its ratio begins at 1 and is not corrected for its age. Tasks that the first policy never solves can be dropped before training.",
  equation: [
    "std(R[1..G]) < 0.05 and mean(R[1..G]) < 0.2:  y[1] ← a stored success of x, drawn uniformly",
    "store of x: its own attempts with R > 0.1, the last 8; a replayed attempt is not stored again",
    "loss = −mean over tokens of min(ρ A, clip(ρ, 1 − 0.2, 1 + 0.3) A)      ρ of the replayed attempt to the policy before the update",
  ].join("\n"),
  source:
    "thresholds, capacity, clip bounds and no KL from the paper's code. Left out: the second bound for negative advantages, the penalty for unreadable actions (the environment's), the history of screenshots. The filter of tasks is `probe`, off by default: it drops the tasks that replay is for",
  defaults: { clipHigh: 0.3 },
  options: {
    probe: {
      help: "attempts at each task before training; tasks without a success are dropped (0: none are)",
      default: 0,
      low: 0,
      whole: true,
    },
    stored: { help: "successes that each task keeps", default: 8, low: 1, whole: true },
  },
  slots: (s, { probe, stored }) => ({
    data: solvable(uniform({ tasks: s.tasks }), { attempts: probe }),
    rollout: withReplay(multiTurn({ groupSize: s.groupSize, temperature: s.temperature }), {
      keeps: isWorthKeeping,
      joins: reviving,
      capacity: stored,
      logp: "scored",
    }),
    objective: clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }),
  }),
});
