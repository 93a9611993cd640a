import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { restricted } from "../../../objective/restricted.ts";
import { rounds } from "./rounds.ts";

/** Of a method with this many rounds: two, as the models are named when a method is declared. */
const count = 2;

export const openvlthinker = method({
  id: "openvlthinker",
  family: "self-play",
  summary: "imitates traces of a text-only reasoner, reinforces, and does both again from the base model",
  paper:
    "OpenVLThinker: An Early Exploration to Complex Vision-Language Reasoning via Iterative Self-Improvement",
  mechanism:
    "A model that sees cannot reason at first, and one that reasons cannot see. Traces of a text-only reasoner, which reads captions, are imitated where they are right, and reinforcement follows. Then the improved model writes the traces: right and short ones, with few words of doubt, are imitated by the base model anew, and reinforcement follows again. Imitation gives the form of reasoning, reinforcement the answers.",
  equation: [
    "D_1: right traces of the reasoner;   D_n = {(x, y) : y ~ π_{n−1}, R = 1, len(y) ≤ L, doubts(y) ≤ c}",
    "θ ← argmin −Σ over D_n of ln π(y | x), from the base weights",
    "θ_n ← GRPO(θ; R)",
  ].join("\n"),
  source:
    "stages and base weights from the paper and a copy of its code; filters reconstructed. The reasoner with its captions is the environment's flawed player; stages take equally long; the questions of later rounds are not harder, no picture is read, and there is no KL penalty towards the base (ours). Two rounds; the paper has up to three",
  models: { round1: { from: "policy" } },
  options: {
    longest: { help: "L: most tokens of an imitated trace", default: 64, low: 1, whole: true },
    mostDoubts: { help: "c: most words of doubt of an imitated trace", default: 1, low: 0, whole: true },
    perTask: { help: "traces of a task that are imitated", default: 2, low: 1, whole: true },
  },
  slots: ({ groupSize, temperature, clipLow, clipHigh }, { longest, mostDoubts, perTask }) => ({
    rollout: rounds({
      ...{ rounds: count, groupSize, temperature, player: "flawed", longest, perTask },
      doubts: { words: ["wait", "but", "check", "again"], most: mostDoubts },
    }),
    objective: [
      restricted(likelihood(), ["demonstrated"]),
      restricted(clippedRatio({ clip: { low: clipLow, high: clipHigh } }), ["sampled"]),
    ],
  }),
});
