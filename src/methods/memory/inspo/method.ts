import { type CoEvolutionOptions, coEvolved } from "../../../memory/instructions/coEvolution.ts";
import { lineEditor } from "../../../memory/instructions/proposers.ts";
import { grpoSlots } from "../../../method/baseline.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";

/** General-purpose lines: the initial instructions are single lines, and evolution tries combinations. */
const lines = [
  "Answer at once.",
  "Think before you answer.",
  "Check the answer before you give it.",
  "Look for what was asked last.",
  "If something failed, try something else.",
  "Use as few turns as you can.",
];

/** The slots of the method with given initial instructions and proposer, such as `chatInstructions`. */
export const instructedBy = (
  settings: Settings,
  options: Omit<CoEvolutionOptions, "each" | "groupSize" | "temperature">,
): SlotChoices => {
  const { groupSize, temperature } = settings;
  return coEvolved({ ...options, groupSize, temperature, each: grpoSlots(settings).update });
};

export const inspo = method({
  id: "inspo",
  family: "memory",
  summary: "co-evolves a population of instructions with the policy; each group shares one instruction",
  paper: "Agentic Policy Optimization via Instruction-Policy Co-Evolution",
  mechanism:
    "An instruction written before training suits the initial policy. Here each question draws one from a small population, weighted by recent reward, and its whole group uses it: the same rewards train the policy and update the instruction's weight. Periodically the worst instruction is replaced by a new one, which is written from failed attempts and verified under the current policy.",
  equation: [
    "p(I) = (1 − f) exp(w/τ) / Σ exp(w/τ) + f/N          τ = 0.1, f = 0.1",
    "w ← (1 − η) w + η · mean reward of the group        η = 0.1",
    "A = (R − mean R) / std R                            over the group of one question and one instruction",
    "every K iterations: the worst with 3 draws or more leaves, the best of M candidates joins at the mean w     K = 20, M = 4",
  ].join("\n"),
  source:
    "softmax, the shared instruction of a group, replay of bad attempts and verification from the paper; the weight's update, f, η, τ and the sizes are ours, and the KL penalty towards a reference is left out. By default instructions are a few lines of general advice, and the proposer edits these; `instructedBy` takes others and `chatInstructions`",
  says: [...lines, "\n"],
  slots: (settings) => instructedBy(settings, { first: ["", ...lines], propose: lineEditor(lines) }),
});
