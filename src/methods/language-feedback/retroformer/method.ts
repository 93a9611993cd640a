import { runningBaseline } from "../../../advantage/runningBaseline.ts";
import type { Trajectory } from "../../../core/types.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { type RetrospectiveOptions, retrospective } from "./retrospective.ts";
import { selfCritique } from "./self.ts";

const question = "it failed . what to do otherwise ?";

/** What the environment said of the attempt, and the question. */
const asks = ({ turns }: Trajectory): string =>
  [...turns.flatMap(({ text }) => text ?? []), question].join("\n");

/** Reflections by a model of their own, rated by what they change. */
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
  summary: "a model of its own learns to write reflections that help a frozen actor do better next time",
  paper: "Retroformer: Retrospective Large Language Agents with Policy Gradient Optimization",
  mechanism:
    "An actor whose weights stay as they are tries a task several times. After each failure another model reads the attempt and what came of it, and writes a reflection that goes into the actor's prompt. How much the return rises from the attempt before to the attempt after is the reflection's reward, and the writer learns from it by policy gradient. The difference takes out what the task was worth anyway, which a baseline shared by all tasks cannot.",
  equation: [
    "y[k] ~ M_r(· | task, attempt k),   attempt k + 1 ~ actor(· | task, last 3 reflections)",
    "r(y[k]) = G[k + 1] − G[k]",
    "A = r − b,   b ← 0.9 b + 0.1 mean r               on every token of the reflection",
  ].join("\n"),
  source:
    "rewards, memory and the shared baseline from the paper's code; learnt while practising and from the ratings themselves (the variant without a reward model), so neither its imitation of helpful reflections beforehand nor the penalty towards what came of that; three retries are ours",
  needs: ["fork"],
  models: { reflector: { from: "policy" } },
  says: [`\n${question}`],
  slots: reflecting({ retries: 3 }),
});
