import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { onColumn } from "../../../objective/onColumn.ts";
import { restricted } from "../../../objective/restricted.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { covarianceColumn, covarianceMask } from "./covarianceMask.ts";
import { recalibrated } from "./recalibrated.ts";
import { selfImitating } from "./selfImitating.ts";
import { toolBonus } from "./toolBonus.ts";

export const spear = method({
  id: "spear",
  family: "curriculum",
  summary: "a bonus for tool calls that fades, and a growing replay of successes, against the present median",
  paper:
    "Learn the Ropes, Then Trust the Wins: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning",
  mechanism:
    "Early in training a bonus for tool calls broadens what the policy tries; it fades as a cosine. Attempts that were better than their group and called a tool are stored and replayed with a second loss, whose weight grows as the mirror of that cosine. A replayed attempt is measured against the median of recent group means: one that was good long ago counts only if it is still above what the policy achieves now. Tokens whose log-probability varies strongly with the advantage are left out at random, against a collapse of the entropy.",
  equation: [
    "b = min(0.1 · calls, 1) · (cos(π s / S) + 1) / 2, 0 from s = S on;  A = R + b − mean of the group",
    "replayed: Ã = R − median of group means, only Ã > 0;  weight (1 − cos(π s / S′)) / 2",
    "loss: clipped ratios of new attempts, plus clipped ratios of replayed ones to the policy that sampled them",
  ].join("\n"),
  source:
    "schedules, store, replay once at 1.5 iterations' attempts, recalibration and mask from the paper's code. R in the store and in the median is without the bonus (ours); the store fills with all its attempts, where the code counts those above the median; groups of low deviation and overlong replies are not dropped",
  defaults: { clipHigh: 0.28 },
  options: {
    bonusOver: {
      help: "iterations over which the bonus falls to 0 (0: it stays)",
      default: 200,
      low: 0,
      whole: true,
    },
    replayOver: {
      help: "iterations over which the replay's weight rises to 1 (0: it is 1)",
      default: 200,
      low: 0,
      whole: true,
    },
    perCall: { help: "bonus of a call at the start", default: 0.1, low: 0, high: 1 },
    staleness: {
      help: "iterations after which a stored attempt is dropped",
      default: 5,
      low: 0,
      whole: true,
    },
    fill: {
      help: "stored attempts at which all are replayed, as a multiple of an iteration's attempts",
      default: 1.5,
      low: 0,
    },
    masked: {
      help: "largest share of tokens left out for their covariance",
      default: 0.0002,
      low: 0,
      high: 1,
    },
    baseline: {
      help: "what replayed attempts are measured against",
      default: "median",
      oneOf: ["median", "none"],
    },
  },
  slots: (s, { bonusOver, replayOver, perCall, staleness, fill, masked, baseline }) => {
    const loss = onColumn(clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }), covarianceColumn);
    return {
      rollout: selfImitating(multiTurn({ groupSize: s.groupSize, temperature: s.temperature }), {
        staleness,
        fill,
      }),
      feedback: [outcome(), toolBonus({ perCall, over: bonusOver })],
      advantage: [
        recalibrated({ over: replayOver, baseline: baseline === "none" ? "none" : "median" }),
        covarianceMask({ share: masked }),
      ],
      objective: [restricted(loss, ["sampled"]), { ...restricted(loss, ["replayed"]), name: "replay" }],
    };
  },
});
