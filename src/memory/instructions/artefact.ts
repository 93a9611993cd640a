/** Instructions as artefacts, which can be versioned, edited by hand and served. */

import { writtenBy } from "../../common/artefacts/origins.ts";
import { type ArtefactVersion, artefactVersion, type InstructionSet } from "../../core/artefact.ts";
import type { Instruction } from "./population.ts";

/** An instruction as an instruction set; its origins are the episodes that the proposer read. */
export const instructionSet = ({ text, from }: Pick<Instruction, "text" | "from">): InstructionSet => ({
  kind: "instructions",
  system: text,
  tools: {},
  examples: [],
  origins: { ...writtenBy(from.length > 0 ? "reflection" : "person"), trajectories: from },
});

/**
 * A population as artefact versions, in descending order of recent reward.
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
