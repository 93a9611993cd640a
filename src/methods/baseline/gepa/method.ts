import { heldBack } from "../../../data/reserved.ts";
import { uniform } from "../../../data/uniform.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { reflectiveSearch } from "./learner.ts";
import type { ReflectiveSearchOptions } from "./options.ts";

/** Tasks that candidates are selected on. */
const selection = 16;

/** The method with a reflector, instructions to begin with, or hints from production. */
export const reflectingWith = (
  { tasks, temperature }: Settings,
  { heldBack: held = selection, ...options }: ReflectiveSearchOptions & { readonly heldBack?: number } = {},
): SlotChoices => ({
  data: heldBack(uniform({ tasks }), { tasks: held }),
  ...reflectiveSearch({ temperature, ...options }),
});

export const gepa = method({
  id: "gepa",
  family: "baseline",
  summary:
    "rewrites what the agent is told from attempts and what was said of them; weights stay as they are",
  paper: "GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning",
  mechanism:
    "A candidate is a set of instructions. In each iteration one of the Pareto front is played on three tasks, a reflector reads what happened and what was said of it and rewrites one of its texts, and the new candidate stays if it earns more on the same three. What stays is measured on tasks that are held back from reflection, and a candidate is of the front as long as it is best at one of them that others do not cover, so that ways of working survive that the average would lose. Two of the front that changed different texts are merged.",
  equation: [
    "front: for each task i held back, P_i = argmax over candidates of s_i; who is covered elsewhere leaves, lowest mean first",
    "parent ~ number of i with parent ∈ P_i",
    "child joins if Σ s(child) > Σ s(parent) over the iteration's tasks",
    "merge joins if Σ s(merge) ≥ max Σ s over its two parents, on 5 tasks held back",
    "in force: argmax of the mean of s over all tasks held back",
  ].join("\n"),
  source:
    "selection, acceptance, minibatch of 3, at most 5 merges, 5 tasks to try one on: the paper and its code. Each text is also a tool's description, where the first set states some. 16 tasks held back out of those practised, the limit of 4000 characters and the refusal of texts that give away held-out tasks are ours. Without a model that talks, what the environment says is quoted word for word: the reflection of the paper wants a capable model",
  weightFree: true,
  says: ["\n"],
  defaults: { tasks: 3, groupSize: 1 },
  slots: (settings) => reflectingWith(settings),
});
