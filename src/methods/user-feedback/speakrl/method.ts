import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { clarifyingQuestions } from "./clarifyingQuestions.ts";

export const speakrl = method({
  id: "speakrl",
  family: "user-feedback",
  summary: "rewards questions that uncover missing information, penalises useless ones and premature actions",
  paper:
    "SpeakRL: Synergizing Reasoning, Speaking, and Acting in Language Models with Reinforcement Learning",
  mechanism:
    "Each turn the agent either asks the user or acts. Initial requests omit some of the needed information, or none, and a simulated user answers only the question asked. Besides the task reward, a question that uncovers a missing slot is rewarded, once per slot; useless or repeated questions and premature actions are penalised. So the agent learns to balance asking and acting, and requests that are complete from the start teach it when not to ask.",
  equation: [
    "R = [right call] + Σ_t r[t]                    A = (R − mean R) / std R over the group, on every token",
    "r: useful 0.1, useless −0.2, premature −0.2, unreadable −0.5, due 0",
    "useful: asks for a slot of M[t];  premature: acts while M[t] is not empty;  M: what is still missing",
  ].join("\n"),
  source:
    "that asking and acting are balanced by rewards over synthetic dialogues is the paper's; kinds and constants are ours, with all questions of an episode worth less than the task; slots are matched by name, not by a judge",
  slots: { feedback: [outcome({ rewards: ["outcome"] }), clarifyingQuestions()] },
});
