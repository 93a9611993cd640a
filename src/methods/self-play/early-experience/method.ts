import { constant } from "../../../advantage/constant.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { type OwnActionsOptions, ownActions, worldQuestion } from "./ownActions.ts";

/** Imitation with what the policy's own actions lead to. */
export const experienced = (options: OwnActionsOptions): SlotChoices => ({
  rollout: ownActions(options),
  advantage: constant(),
  objective: likelihood(),
});

export const earlyExperience = method({
  id: "early-experience",
  family: "self-play",
  summary:
    "without rewards: learns what its own actions lead to where an expert acted, and imitates the expert",
  paper: "Agent Learning via Early Experience",
  mechanism:
    "An expert shows one action in each state, and nothing of what others would have done. The agent therefore tries actions of its own there, and what it observes is supervision without any reward. With `learn=world` the policy first learns to predict these observations, so that its representation of states knows what actions do, and then imitates the expert. With `learn=reflection` it learns to write what an action of its own led to before the expert's action.",
  equation: [
    "D = {(s_i, a_i^j, s_i^j)}:   a_i^j ~ π(· | s_i), a_i^j ≠ a_i,   s_i^j ~ T(s_i, a_i^j),   j = 1 … K",
    "world:        first −mean over D of ln p(s_i^j | s_i, a_i^j),   then −mean ln π(a_i | s_i)",
    "reflection:   −mean over demonstrations and reflections of ln p(c_i^j, a_i | s_i) and ln π(a_i | s_i)",
  ].join("\n"),
  source:
    "stages, K and that imitation follows prediction from the paper (prediction gains from more K, reflection is best at 2 to 4). A template writes the reflection, which a language model does in the paper. Both kinds of own actions are sampled from the policy as it is when a task is first met. The demonstrations are the environment's expert; reinforcement from the weights that come out is another run",
  says: [`${worldQuestion("")} after : so`],
  options: {
    learn: { help: "what is learnt of own actions", default: "world", oneOf: ["world", "reflection"] },
    alternatives: {
      help: "K, own actions at each state of the expert",
      default: 4,
      low: 1,
      high: 1000,
      whole: true,
    },
    share: { help: "share of the iterations that predict observations", default: 0.5, low: 0, high: 1 },
  },
  slots: ({ temperature }, { learn, alternatives, share }) =>
    experienced({ learn: learn === "world" ? "world" : "reflection", alternatives, share, temperature }),
});
