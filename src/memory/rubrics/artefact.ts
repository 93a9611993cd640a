/** A judge's library as an artefact: what a judge is told, and what its tools are told. Read, edited and versioned as such. */
import {
  type ArtefactVersion,
  artefactVersion,
  type InstructionSet,
  type Origins,
} from "../../core/artefact.ts";
import { writtenBy } from "../../core/origins.ts";
import type { Rubric, RubricLibrary } from "../../core/rubrics.ts";
import type { Id } from "../../core/words.ts";
import type { Evolution } from "./evolve.ts";

/**
 * Skills are sections of the system text, each under its id as a heading; tools are descriptions by id. A line of a skill
 * that would be a heading stands behind a backslash.
 */
export const rubricArtefact = (
  { rubrics }: RubricLibrary,
  origins: Origins = writtenBy("reflection"),
): InstructionSet => ({
  kind: "instructions",
  system: rubrics
    .filter(({ kind }) => kind === "skill")
    .map(({ id, text }) => `## ${id}\n\n${text.replace(/^\\*## /gm, "\\$&")}`)
    .join("\n\n"),
  tools: Object.fromEntries(rubrics.filter(({ kind }) => kind === "tool").map(({ id, text }) => [id, text])),
  examples: [],
  origins,
});

/** The library that an artefact says: its skills in their order, then its tools. What stands before the first heading says nothing. */
export function libraryIn({ system, tools }: InstructionSet): RubricLibrary {
  const [, ...sections] = `\n${system}`.split(/\n## /);
  const skills = sections.map((section): Rubric => {
    const [id = "", ...lines] = section.split("\n");
    const text = lines
      .join("\n")
      .trim()
      .replace(/^\\(\\*## )/gm, "$1");
    return { id: id.trim(), kind: "skill", text };
  });
  const analysers = Object.entries(tools).map(([id, text]): Rubric => ({ id, kind: "tool", text }));
  return { rubrics: [...skills, ...analysers] };
}

/**
 * The libraries that an evolution kept, as versions in their order, each made from the one before it and saying why. One
 * that comes back to what an earlier one said is that version.
 * @param created milliseconds since 1970.
 */
export function rubricVersions(
  { versions }: Evolution,
  name: string,
  created: number,
): readonly ArtefactVersion<InstructionSet>[] {
  const made = new Map<Id, ArtefactVersion<InstructionSet>>();
  let parents: readonly Id[] = [];
  for (const { library, accuracy, why } of versions) {
    const version = artefactVersion({
      name,
      artefact: rubricArtefact(library),
      parents,
      why: `${why}: right on ${(100 * accuracy).toFixed(1)} % of the held-out pairs`,
      origins: writtenBy("reflection"),
      created,
    });
    if (!made.has(version.id)) made.set(version.id, version);
    parents = [version.id];
  }
  return [...made.values()];
}
