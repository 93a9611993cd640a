import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import type { Able } from "../../../core/evaluator.ts";
import { askedModel } from "../../../evaluator/askedModel.ts";
import { yesAndNo } from "../../../evaluator/yesProbability.ts";
import { judgedOutcome } from "../../../feedback/judgedOutcome.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { type ImaginingOptions, imagining } from "./imagining.ts";
import { transitionModel } from "./transitionModel.ts";

/** Real and imagined episodes, of which those are imitated that the judge accepts. */
export const evolving =
  (judge: Able<"score">, options: ImaginingOptions) =>
  ({ groupSize, temperature }: Settings): SlotChoices => ({
    rollout: imagining(multiTurn({ groupSize, temperature }), { temperature, ...options }),
    feedback: judgedOutcome(judge),
    advantage: rejectionSampled(),
    objective: likelihood(),
  });

const question = "Was the task done ? YES or NO";

export const webevolver = method({
  id: "webevolver",
  family: "self-play",
  summary: "imitates judged successes, real ones and ones in a world model that grows with the agent",
  paper: "WebEvolver: Enhancing Web Agent Self-Improvement with Coevolving World Model",
  mechanism:
    "An agent imitates those of its own episodes that a judge accepts. A world model learns from all its transitions, failures too, and stands in for the environment: the agent answers further queries in it, and the accepted episodes are imitated as well. Both grow together, since a better agent reaches pages that the model has not seen. When it acts, the model can also look ahead, so that of several actions the one is taken whose imagined branch is best.",
  equation: [
    "world model: o_{t+1} given o_t, a_t          fitted to all real transitions so far",
    "imagined: o_0 of a query, a_t ~ π, o_{t+1} ~ world model, at most 7 steps; kept if the agent stops and the judge accepts",
    "loss = −mean over tokens of D⁺_real ∪ D⁺_imagined of ln π(a_t | q, o_≤t, a_<t)",
    "look-ahead: of k candidates a ~ π the one whose branch of d imagined steps the judge scores highest, ties by π",
  ].join("\n"),
  source:
    "the pipeline, at most 7 imagined steps and the judge from the paper's code. Its world model is a language model that writes a rationale before each observation; ours counts transitions and makes nothing up. Half of the episodes are imagined (ours); both models go on from the iteration before. `lookAhead` is for use beside the method, k and d are the caller's",
  models: { judge: { from: "policy" } },
  needs: ["fork"],
  helpers: { world: transitionModel },
  says: [`${question} ${yesAndNo.yes} ${yesAndNo.no} system: user: assistant: tool:\n`],
  options: {
    share: { help: "imagined episodes for each real one", default: 1, low: 0, high: 1000 },
    turns: { help: "most turns of an imagined episode", default: 7, low: 1, high: 1e6, whole: true },
    stop: {
      help: "the first word of an action that ends an episode",
      default: "stop",
      oneOf: ["stop", "answer", "submit"],
    },
  },
  slots: (s, { share, turns, stop }) =>
    evolving(askedModel(question), { share, turns, stops: (action) => action.split(/\s/)[0] === stop })(s),
});
