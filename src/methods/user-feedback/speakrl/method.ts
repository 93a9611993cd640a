import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { clarifyingQuestions } from "./clarifyingQuestions.ts";

export const speakrl = method({
  id: "speakrl",
  family: "user-feedback",
  summary: "pays questions that uncover what is missing, charges useless ones and premature actions",
  paper:
    "SpeakRL: Synergizing Reasoning, Speaking, and Acting in Language Models with Reinforcement Learning",
  mechanism:
    "Each turn the agent either asks the user or acts. First requests hide some of what is needed, or nothing, and a simulated user answers only what is asked. Beside the task itself a question is paid that uncovers something still missing, once for each; a useless or repeated one, and an action that comes too early, are charged. So asking is weighed against acting, and requests that were complete from the start teach when not to ask.",
  equation: [
    "R = [right call] + Σ_t r[t]                    A = (R − mean R) / std R over the group, on every token",
    "r: useful 0.1, useless −0.2, premature −0.2, unreadable −0.5, due 0",
    "useful: asks for a slot of M[t];  premature: acts while M[t] is not empty;  M: what is still missing",
  ].join("\n"),
  source:
    "that asking and acting are balanced by rewards over synthetic dialogues is the paper's; kinds and constants are ours, with all questions of an episode worth less than the task; slots are matched by name, not by a judge",
  slots: { feedback: [outcome({ rewards: ["outcome"] }), clarifyingQuestions()] },
});
