import { method, type Phase } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { intervened, type Propose } from "./intervened.ts";

/**
 * The imitation phase that precedes RL. The policy itself proposes interventions unless `propose`
 * is given.
 */
export const interventionPhase =
  (propose?: Propose, imitation = 15) =>
  ({ groupSize, temperature }: Settings): readonly Phase[] => [
    {
      name: "interventions",
      from: 0,
      until: imitation,
      slots: {
        rollout: intervened(multiTurn({ groupSize, temperature }), propose ? { propose } : {}),
        advantage: [], // the attempts themselves are not trained on
        objective: likelihood(),
      },
    },
  ];

export const intIntervention = method({
  id: "int-intervention",
  family: "credit",
  summary:
    "corrects the first wrong step of failed attempts, imitates the corrections, then trains with GRPO",
  paper: "InT: Self-Proposed Interventions Enable Credit Assignment in LLM Reasoning",
  mechanism:
    "The policy, shown the reference, names the first wrong step of a failed attempt and writes one right step in its place. The attempt up to that step and the correction are imitated, and nothing after it. This makes the correction likelier than the mistake and preserves the correct steps before it. RL on outcomes then starts with far fewer groups in which every attempt fails.",
  equation: [
    "(k, s′) ~ π(· | x, y, z)                         x: task, y = (s[1] … s[n]): a failed attempt, z: reference",
    "loss = −Σ log π(s[1] … s[k − 1], s′ | x)         neither z nor s[k] … s[n] in the context",
    "then GRPO",
  ].join("\n"),
  source:
    "a loss on prefix and intervention only, and dropping interventions that contain the answer: the paper; 15 iterations, pass rates up to 0.5 and the wording of the question: ours",
  slots: {},
  options: {
    imitation: { help: "iterations of the imitation phase", default: 15, low: 0, whole: true },
  },
  phases: (settings, { imitation }) => interventionPhase(undefined, imitation)(settings),
});
