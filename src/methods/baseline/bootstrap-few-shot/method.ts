import { reserved } from "../../../data/reserved.ts";
import { uniform } from "../../../data/uniform.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { type BootstrapOptions, bootstrapped } from "./bootstrap.ts";

/** Number of held-out tasks on which sets of examples are compared. */
const selection = 16;

/** The slots of the method with other numbers of examples. */
export const bootstrappedWith = (
  { tasks, groupSize, temperature }: Settings,
  { reserved: held = selection, ...options }: BootstrapOptions & { readonly reserved?: number } = {},
): SlotChoices => ({
  data: reserved(uniform({ tasks }), { tasks: held }),
  ...bootstrapped({ groupSize, temperature, ...options }),
});

export const bootstrapFewShot = method({
  id: "bootstrap-few-shot",
  family: "baseline",
  summary:
    "puts the agent's own successes into the prompt as examples, selected on held-out tasks; no weights",
  paper: "DSPy: Compiling Declarative Language Model Calls into Self-Improving Pipelines",
  mechanism:
    "Episodes that succeed are kept unchanged. Random sets of them are put into the prompt as examples and evaluated on held-out tasks; a set with a higher mean reward than the current one replaces it. Later episodes use the better prompt, so tasks without any success so far begin to succeed.",
  equation: [
    "E = successes so far, one per task        D ~ 4 of E",
    "D replaces the current set if mean r(D) > mean r(current) over the held-out tasks",
  ].join("\n"),
  source:
    "random search over bootstrapped sets of at most 4: the paper and its code, which compiles once and tries all sets at that point; continuing from the current set, keeping 32 successes and holding out 16 tasks are ours",
  weightFree: true,
  defaults: { tasks: 8, groupSize: 1 },
  options: {
    reserved: { help: "held-out tasks that sets are compared on", default: selection, low: 1, whole: true },
    examples: { help: "most examples in the prompt", default: 4, low: 1, whole: true },
  },
  slots: (settings, options) => bootstrappedWith(settings, options),
});
