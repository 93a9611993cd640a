import { heldBack } from "../../../data/reserved.ts";
import { uniform } from "../../../data/uniform.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { type BootstrapOptions, bootstrapped } from "./bootstrap.ts";

/** Tasks that sets of examples are selected on. */
const selection = 16;

/** The method with other numbers of examples. */
export const bootstrappedWith = (
  { tasks, groupSize, temperature }: Settings,
  { heldBack: held = selection, ...options }: BootstrapOptions & { readonly heldBack?: number } = {},
): SlotChoices => ({
  data: heldBack(uniform({ tasks }), { tasks: held }),
  ...bootstrapped({ groupSize, temperature, ...options }),
});

export const bootstrapFewShot = method({
  id: "bootstrap-few-shot",
  family: "baseline",
  summary:
    "shows the agent its own successes as examples, selected on tasks held back; weights stay as they are",
  paper: "DSPy: Compiling Declarative Language Model Calls into Self-Improving Pipelines",
  mechanism:
    "Episodes that succeed are kept as they were played. Random sets of them stand as examples in the prompt and are tried on tasks that are held back; a set that earns more there than the one in force takes its place. Later episodes are played under the better prompt, so that tasks which nothing was known of begin to succeed.",
  equation: [
    "E = successes so far, one of a task        D ~ 4 of E",
    "D in force if mean r(D) > mean r(in force) over the tasks held back",
  ].join("\n"),
  source:
    "random search over bootstrapped sets of at most 4: the paper and its code, which compiles once and tries all sets then; going on from what is in force, 32 successes kept and 16 tasks held back are ours",
  weightFree: true,
  defaults: { tasks: 8, groupSize: 1 },
  slots: (settings) => bootstrappedWith(settings),
});
