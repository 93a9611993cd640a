import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { roleBaselines } from "./roleBaselines.ts";
import { alternating, type SpyGamesOptions, spyGames } from "./spyGames.ts";

const sides = ["clue.spy", "clue.civilian"] as const;

/** The game with stages of one's own. */
export const spying =
  ({ keep, ...options }: SpyGamesOptions & { readonly keep: number }) =>
  ({ clipLow, clipHigh }: Settings): SlotChoices => ({
    rollout: spyGames(options),
    feedback: turnRewards({ rewards: [...sides, "decision"], channel: { perName: true } }),
    advantage: [roleBaselines(sides, keep), groupNormalised({ channels: ["decision"] })],
    objective: [clippedRatio({ clip: { low: clipLow, high: clipHigh } }), klPenalty({ coefficient: 0.04 })],
  });

export const visionZeroSpo = method({
  id: "vision-zero-spo",
  family: "self-play",
  summary: "a spy among civilians: clues by self-play and decisions by their truth take turns",
  paper: "Vision-Zero: Scalable VLM Self-Improvement via Strategic Gamified Self-Play",
  mechanism:
    "Civilians see one thing, and a spy sees it slightly changed. All say something about it, and a decider who reads what was said names the spy. No label is needed: the game knows who the spy is. Two stages take turns. In one, clues are learnt by self-play: the spy is paid for votes on others, civilians for votes on the spy. In the other, decisions are learnt by their truth. Each stage has better opponents than before, which is to keep self-play from standing still.",
  equation: [
    "v_p = decisions, of G, that name p;   v̄ = mean over civilians",
    "r_spy = −β (v_spy − v̄);   r_i = β/n_c (v_spy − v̄) − λ (v_i − v̄);   A = r − b_side,  b_side ← a b_side + (1 − a) r",
    "r_decision = 1 for the spy, −½ for nobody, −1 otherwise;   A = (r − mean) / std over the G decisions of a game",
    "loss = clipped policy gradient + 0.04 · KL(π ‖ π_ref);   one stage in each iteration, decisions first",
  ].join("\n"),
  source:
    "rewards, β, λ, a, G, KL, and a decider who sees the clues alone from the released code, with a fixed number of iterations for each stage; the switch by measured accuracy of the paper is left out, and so are pictures and a small reward for the form. The environment's tasks say who the spy is (`metadata.spy`)",
  frozen: { reference: {} },
  needs: ["freeze"],
  options: {
    every: { help: "iterations of a stage", default: 10, low: 1, high: 1e6, whole: true },
    decisions: { help: "G, decisions in a game", default: 8, low: 2, high: 1000, whole: true },
    decider: { help: "the role that decides", default: "decider", oneOf: ["decider", "observer", "judge"] },
    beta: { help: "β, weight of votes on the spy", default: 0.1, low: 0 },
    lambda: { help: "λ, weight of votes on a civilian beside the other civilians", default: 0.1, low: 0 },
    keep: { help: "a, share of the old baseline that an iteration keeps", default: 0.9, low: 0, high: 1 },
  },
  slots: (s, { every, ...own }) =>
    spying({ ...own, games: s.groupSize, temperature: s.temperature, stage: alternating(every) })(s),
});
