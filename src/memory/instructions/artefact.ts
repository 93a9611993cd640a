/** Instructions as artefacts: versioned, edited by hand, and served like any other. */

import { writtenBy } from "../../common/artefacts/origins.ts";
import { type ArtefactVersion, artefactVersion, type InstructionSet } from "../../core/artefact.ts";
import type { Instruction } from "./population.ts";

/** The text of an instruction as what an agent is told, with the episodes that were read when it was written. */
export const instructionSet = ({ text, from }: Pick<Instruction, "text" | "from">): InstructionSet => ({
  kind: "instructions",
  system: text,
  tools: {},
  examples: [],
  origins: { ...writtenBy(from.length > 0 ? "reflection" : "person"), trajectories: from },
});

/**
 * A population as versions that stand beside each other, what has earned most of late first.
 * @param created milliseconds since 1970.
 */
export const instructionVersions = (
  members: readonly Instruction[],
  name: string,
  created: number,
): readonly ArtefactVersion<InstructionSet>[] =>
  members
    .toSorted((a, b) => b.weight - a.weight)
    .map((member) => {
      const artefact = instructionSet(member);
      const why = `earned ${member.weight.toFixed(3)} of late, in ${member.draws} groups`;
      return artefactVersion({ name, artefact, parents: [], why, origins: artefact.origins, created });
    });
