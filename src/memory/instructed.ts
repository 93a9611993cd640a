/** Shared by instruction learners: the instructions of a version, and episodes played with given instructions. */

import { emptyInstructions } from "../common/artefacts/mergeArtefacts.ts";
import type { ArtefactVersion, InstructionSet } from "../core/artefact.ts";
import type { Ctx } from "../core/context.ts";
import type { Task, Trajectory } from "../core/types.ts";

/** The instructions of a version; empty ones where there is no version, or it is of another kind. */
export const instructionsOf = (version: Pick<ArtefactVersion, "artefact"> | undefined): InstructionSet =>
  version?.artefact.kind === "instructions" ? version.artefact : emptyInstructions;

/** Plays each task once, concurrently. @param attempt attempt number, to distinguish episodes of one iteration. */
export async function playedUnder(
  ctx: Ctx,
  artefact: InstructionSet,
  tasks: readonly Task[],
  attempt: number,
  { temperature }: { readonly temperature?: number },
): Promise<readonly Trajectory[]> {
  const more = temperature === undefined ? {} : { temperature };
  return (await Promise.all(tasks.map((task) => ctx.play({ task, attempt, artefact, ...more })))).flat();
}
