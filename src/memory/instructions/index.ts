/** Instructions that evolve while the policy under them learns. */
export { instructionSet, instructionVersions } from "./artefact.ts";
export { type Attempt, drawnAttempts, remembered } from "./attempts.ts";
export {
  type CoEvolutionOptions,
  coEvolved,
  type InstructionProposer,
  type InstructionWish,
  populationIn,
} from "./coEvolution.ts";
export {
  chancesOf,
  credited,
  type DrawOptions,
  drawnFrom,
  type Instruction,
  replaced,
} from "./population.ts";
export { chatInstructions, lineEditor } from "./proposers.ts";
