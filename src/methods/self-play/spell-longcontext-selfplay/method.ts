import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import {
  harderThan,
  questionerQuestion,
  type ThreeRolesOptions,
  threeRoles,
  verifierQuestion,
} from "./threeRoles.ts";

/** The three roles with a reader of questions or a reward for them of one's own. */
export const asking = (options: ThreeRolesOptions): SlotChoices => ({
  rollout: threeRoles(options),
  feedback: turnRewards({ rewards: ["role"] }),
});

export const spellLongcontextSelfplay = method({
  id: "spell-longcontext-selfplay",
  family: "self-play",
  summary:
    "one policy asks about documents, answers and verifies; questions are paid for being half solvable",
  paper: "SPELL: Self-Play Reinforcement Learning for evolving Long-Context Language Models",
  mechanism:
    "One policy plays three roles on raw documents. As questioner it reads them, and its latest solvable questions, and writes a harder question with a reference answer. As responder it answers several times. As verifier it compares each answer with the reference several times, and the majority decides. A question is paid most where half of the answers are right, so that its difficulty follows the responder's skill; a verdict is paid for agreeing with the majority. Questions that are answered without the documents are punished.",
  equation: [
    "r_i = max(m_i, v*_i)          m_i: the answer covers the reference;   v*_i: majority of the verdicts v_ij",
    "r_ij = 1[v_ij = v*_i]",
    "r_q = exp(−(mean r_i − ½)² / 2σ²), σ = ½/3;  0 where all or none are right;  −½ without documents;  −1 unparsable",
    "A = (r − mean) / std          over answers to a question, verdicts on an answer, questions of an iteration",
  ].join("\n"),
  source:
    "roles, memory, majority vote and the questioner's Gaussian from a review of the paper; µ, σ, −½, −1, the memory of three, one probe without documents and ties as 0 are ours. A task's prompt stands for the documents: here questioner and responder see the same ones, while the paper shows the questioner a few and the responder distractors as well",
  says: [`${questionerQuestion} ${harderThan} , | ${verifierQuestion}\n`],
  options: {
    remembered: {
      help: "solvable questions remembered for each set of documents",
      default: 3,
      low: 0,
      high: 1000,
      whole: true,
    },
    probes: { help: "attempts at a question without documents", default: 1, low: 0, high: 1000, whole: true },
  },
  slots: ({ groupSize, temperature }, own) => asking({ groupSize, temperature, ...own }),
});
