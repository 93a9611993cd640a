import { preferencePairs } from "../../../advantage/preferencePairs.ts";
import { comparisons } from "../../../feedback/comparisons.ts";
import { method } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { selfImproving } from "./selfImproving.ts";
import { withRevisions } from "./withRevisions.ts";

export const srpoSelfImproving = method({
  id: "srpo-self-improving",
  family: "objective",
  summary: "one model generates and improves replies; its optimum does not depend on the sampling policy",
  paper: "Self-Improving Robust Preference Optimization",
  mechanism:
    "The same network has two roles: the generator replies to a prompt, and the improver, given a draft, writes a better reply. The improver maximises how often its revision is preferred; the generator minimises what the improver can gain. With KL regularisation towards a reference this game has a closed form, which gives one squared loss on pairs, without a reward model or win rates. So the solution does not depend on the policy whose replies were compared. At inference a reply may be improved several times.",
  equation: [
    "B(y) = ln π(y|x)/ref(y|x),   A(y|d) = ln π(y|d, x)/ref(y|d, x)          d: draft",
    "e₁ = β (A(w|l) − A(l|w) + B(w) − B(l)) − 1",
    "e₂ = β (A(w|l) − A(l|l)) − 1/2,   e₃ = β (A(l|w) − A(w|w)) + 1/2        w: preferred, l: other",
    "loss = mean over pairs of (1 − α) e₁² + α (e₂² + e₃²)                   β = 0.3, α = 0.5",
  ].join("\n"),
  source:
    "the game from the paper; the pair losses derived from its closed form; β, α and the improver's prompt are ours",
  frozen: { reference: {} },
  learnsFrom: { kind: "pair" },
  slots: ({ groupSize, temperature }) => ({
    rollout: withRevisions(multiTurn({ groupSize, temperature })),
    feedback: comparisons(),
    advantage: preferencePairs(),
    objective: selfImproving({ beta: 0.3 }),
  }),
});
