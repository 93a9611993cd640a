import type { Able } from "../../../core/evaluator.ts";
import { askedModel } from "../../../evaluator/askedModel.ts";
import { yesAndNo } from "../../../evaluator/yesProbability.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { demonstratedSteps } from "./beginning.ts";
import { stepJudge } from "./stepJudge.ts";
import { type TwoJudgesOptions, twoJudges } from "./twoJudges.ts";

const question = "Is this the right action here?";

/** The slots with a general judge of your own, and with other reward data to begin with. */
export const judgedByTwo = (
  { groupSize, temperature }: Settings,
  options: { readonly general: Able<"score"> } & Partial<TwoJudgesOptions>,
): SlotChoices => ({
  rollout: twoJudges(multiTurn({ groupSize, temperature }), {
    beginning: demonstratedSteps,
    asked: 0.3,
    reflux: true,
    most: 5000,
    ...options,
  }),
  feedback: [],
  advantage: [], // what the policy did is trained on where it was called right, as a row of its own
  objective: likelihood(),
});

export const magicguiRms = method({
  id: "magicgui-rms",
  family: "judges",
  summary: "two judges of each action teach the agent, and their disagreements teach one of the judges",
  paper:
    "MagicGUI-RMS: A Multi-Agent Reward Model System for Self-Evolving GUI Agents via Automated Feedback Reflux",
  mechanism:
    "A small judge of the domain looks at every action of an agent, and a general judge at some. Actions that are called right are imitated, and where one is called wrong, a correction that both accept takes its place. Where the two disagree, the general judge is believed, and the step becomes training data of the judge of the domain. So agent and judge get better together, without labels of people.",
  equation: [
    "v_d = 1[p_φ(right | s, a) ≥ ½],   v_g ∈ {0, 1} on a share of the steps",
    "v_g = v_d = 1 → (s, a);   v_g = v_d = 0 → (s, a′), a′ = argmax p_φ, if the general judge calls it right;   v_g ≠ v_d → v_g",
    "loss of the agent = −mean of ln π(a | s) over those;   φ: log loss on its beginning and on all steps with v_g ≠ v_d",
  ].join("\n"),
  source:
    "reconstructed from the paper's abstract and notes on it: roles and flow of data. A share of 0.3, 5,000 hard steps, corrections by the judge of the domain alone, imitation as the agent's update and logistic regression on words as that judge are ours; a copy of the starting policy stands in for the general judge. Its reward data are demonstrations with one wrong action each; negatives of three kinds are left out",
  models: { general: { from: "policy" } },
  helpers: { domain: stepJudge() },
  needs: ["fork"],
  says: [`${question} ${yesAndNo.yes} ${yesAndNo.no}\n`],
  options: {
    asked: { help: "share of the steps on which the general judge is asked", default: 0.3, low: 0, high: 1 },
    reflux: { help: "whether disagreements teach the judge of the domain", default: true },
  },
  slots: (s, { asked, reflux }) =>
    judgedByTwo(s, { general: askedModel(question, "general"), asked, reflux }),
});
