import { runningBaseline } from "../../../advantage/runningBaseline.ts";
import type { Trajectory } from "../../../core/types.ts";
import { selfCritique } from "../../../evaluator/selfCritique.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { type RetrospectiveOptions, retrospective } from "./retrospective.ts";

const question = "it failed . what to do otherwise ?";

/** The environment's messages during the attempt, followed by the question. */
const asks = ({ turns }: Trajectory): string =>
  [...turns.flatMap(({ text }) => text ?? []), question].join("\n");

/** A separate model writes reflections, which are rewarded by the change of return. */
export const reflecting =
  (options: Omit<RetrospectiveOptions, "writer"> = {}) =>
  ({ groupSize, temperature }: Settings): SlotChoices => ({
    rollout: retrospective(multiTurn({ groupSize, temperature }), {
      writer: selfCritique({
        model: "reflector",
        question: asks,
        read: (text) => (text.trim() === "" ? undefined : { text }),
        maxTokens: 64,
        temperature,
      }),
      ...options,
    }),
    advantage: runningBaseline(),
  });

export const retroformer = method({
  id: "retroformer",
  family: "language-feedback",
  summary: "trains a separate model to write reflections that improve a frozen actor's next attempt",
  paper: "Retroformer: Retrospective Large Language Agents with Policy Gradient Optimization",
  mechanism:
    "A frozen actor tries a task several times. After each failure another model reads the attempt and its result and writes a reflection, which goes into the actor's prompt. The reflection's reward is the increase of the return from the attempt before to the attempt after, and the reflection model learns from it by policy gradient. The difference removes the task's difficulty, which a baseline shared by all tasks cannot.",
  equation: [
    "y[k] ~ M_r(· | task, attempt k),   attempt k + 1 ~ actor(· | task, last 3 reflections)",
    "r(y[k]) = G[k + 1] − G[k]",
    "A = r − b,   b ← 0.9 b + 0.1 mean r               on every token of the reflection",
  ].join("\n"),
  source:
    "rewards, memory and the shared baseline from the paper's code; trained online and on the ratings themselves (the variant without a reward model), so without its initial imitation of helpful reflections and without the KL penalty towards the imitated model; three retries are ours",
  needs: ["fork"],
  models: { reflector: { from: "policy" } },
  says: [`\n${question}`],
  slots: reflecting({ retries: 3 }),
});
