import { method, type Phase } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { intervened, type Propose } from "./intervened.ts";

/** Iterations of imitation before practice begins, with interventions by the policy itself or by another. */
export const interventionPhase =
  (propose?: Propose) =>
  ({ groupSize, temperature }: Settings): readonly Phase[] => [
    {
      name: "interventions",
      from: 0,
      until: 15,
      slots: {
        rollout: intervened(multiTurn({ groupSize, temperature }), propose ? { propose } : {}),
        advantage: [], // the attempts themselves are not learnt from
        objective: likelihood(),
      },
    },
  ];

export const intIntervention = method({
  id: "int-intervention",
  family: "credit",
  summary: "the first wrong step of a failed attempt is corrected and imitated, then practice goes on",
  paper: "InT: Self-Proposed Interventions Enable Credit Assignment in LLM Reasoning",
  mechanism:
    "The policy, shown the reference, names the first wrong step of a failed attempt and writes one right step in its place. Imitating the attempt up to there and the correction, and nothing after it, makes the correction likelier than the mistake and leaves the right steps before it as they were. Practice on outcomes then begins with far fewer groups in which everybody fails.",
  equation: [
    "(k, s′) ~ π(· | x, y, z)                         x: task, y = (s[1] … s[n]): a failed attempt, z: reference",
    "loss = −Σ log π(s[1] … s[k − 1], s′ | x)         neither z nor s[k] … s[n] in the context",
    "then GRPO",
  ].join("\n"),
  source:
    "prefix and intervention alone in the loss, answers in interventions dropped: the paper; 15 iterations, pass rates up to 0.5 and the wording of the question: ours",
  slots: {},
  phases: interventionPhase(),
});
