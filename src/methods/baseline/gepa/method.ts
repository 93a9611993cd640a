import { reserved } from "../../../data/reserved.ts";
import { uniform } from "../../../data/uniform.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { reflectiveSearch } from "./learner.ts";
import type { ReflectiveSearchOptions } from "./options.ts";

/** Number of held-out tasks on which candidates are selected. */
const selection = 16;

/** The slots of the method with a reflector, initial instructions, or hints from production. */
export const reflectingWith = (
  { tasks, temperature }: Settings,
  { reserved: held = selection, ...options }: ReflectiveSearchOptions & { readonly reserved?: number } = {},
): SlotChoices => ({
  data: reserved(uniform({ tasks }), { tasks: held }),
  ...reflectiveSearch({ temperature, ...options }),
});

export const gepa = method({
  id: "gepa",
  family: "baseline",
  summary: "rewrites the agent's instructions by reflecting on attempts and their feedback; no weights",
  paper: "GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning",
  mechanism:
    "A candidate is a set of instructions. In each iteration a candidate from the Pareto front is run on three tasks. A reflector reads the episodes and their feedback and rewrites one of the candidate's texts; the new candidate is accepted if it earns more on the same three tasks. Accepted candidates are evaluated on tasks held out from reflection. A candidate belongs to the front as long as it is best at a held-out task that other members do not cover, so strategies survive that selection by the average would lose. Two members of the front that changed different texts are merged.",
  equation: [
    "front: for each held-out task i, P_i = argmax over candidates of s_i; candidates covered by others are removed, lowest mean first",
    "parent ~ number of i with parent ∈ P_i",
    "child joins if Σ s(child) > Σ s(parent) over the iteration's tasks",
    "merge joins if Σ s(merge) ≥ max Σ s over its two parents, on 5 held-out tasks",
    "current: argmax of the mean of s over all held-out tasks",
  ].join("\n"),
  source:
    "selection, acceptance, minibatch of 3, at most 5 merges, 5 tasks to evaluate a merge: the paper and its code. Tool descriptions are texts of a candidate as well, where the initial candidate has some. Holding out 16 of the training tasks, the limit of 4000 characters and the rejection of texts that leak held-out tasks are ours. Without a language model as reflector, the environment's feedback is quoted verbatim; the paper's reflection needs a capable model",
  weightFree: true,
  says: ["\n"],
  defaults: { tasks: 3, groupSize: 1 },
  options: {
    reserved: {
      help: "held-out tasks that candidates are selected on",
      default: selection,
      low: 1,
      whole: true,
    },
  },
  slots: (settings, options) => reflectingWith(settings, options),
});
