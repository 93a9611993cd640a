/** Adds parts to artefacts. Where two parts share an id, the existing one is kept. */
import type { Example, ExperienceLibrary, InstructionSet, LibraryEntry } from "../../core/artefact.ts";
import { writtenBy } from "./origins.ts";

/** An empty instruction set: it adds nothing to a prompt. */
export const emptyInstructions: InstructionSet = {
  kind: "instructions",
  system: "",
  tools: {},
  examples: [],
  origins: writtenBy("nobody"),
};
/** An empty experience library: it adds nothing to a prompt. */
export const emptyLibrary: ExperienceLibrary = { kind: "experience", entries: [] };

const unlike = <T extends { readonly id: string }>(known: readonly T[], more: readonly T[]): readonly T[] => {
  const ids = new Set(known.map(({ id }) => id));
  return more.filter(({ id }) => !ids.has(id) && ids.add(id));
};

/** @returns the set with the new examples added, and the list of those. */
export function withExamples(set: InstructionSet, more: readonly Example[]) {
  const fresh = unlike(set.examples, more);
  return { artefact: { ...set, examples: [...set.examples, ...fresh] }, fresh };
}

/** @returns the library with the new lessons added, and the list of those. */
export function withEntries(library: ExperienceLibrary, more: readonly LibraryEntry[]) {
  const fresh = unlike(library.entries, more);
  return { artefact: { ...library, entries: [...library.entries, ...fresh] }, fresh };
}
