/** What a judge goes by: written rubrics and analysers, as a library of versions. */
import type { Id } from "./types.ts";

/** A skill is a criterion in words; a tool is the prompt of an analyser, whose findings the judge reads. */
export interface Rubric {
  readonly id: Id;
  readonly kind: "skill" | "tool";
  readonly text: string;
}

/** One state of a library. Never changed: an edit makes a further one. */
export interface RubricLibrary {
  readonly rubrics: readonly Rubric[];
}

/** What is judged: what was asked for, and what was done. Plain data. */
export interface Candidate {
  readonly asked: string;
  readonly reply: string;
}

/**
 * Judges candidates for one task by a library, in the order in which they are shown: a score in [0, 1] for each, or
 * undefined where the judge failed. Frozen: only the library changes.
 */
export type RubricJudge<Item> = (
  library: RubricLibrary,
  candidates: readonly Item[],
  call: number,
) => Promise<readonly number[] | undefined>;

/** What becomes of a library in one go. */
export type RubricEdit =
  | { readonly kind: "add"; readonly rubric: Rubric }
  | { readonly kind: "modify"; readonly id: Id; readonly text: string }
  | { readonly kind: "delete"; readonly id: Id };

/** The library with an edit carried out; undefined where it cannot be: an id that is there already, or is not. */
export function editedLibrary({ rubrics }: RubricLibrary, edit: RubricEdit): RubricLibrary | undefined {
  const id = edit.kind === "add" ? edit.rubric.id : edit.id;
  if (rubrics.some((rubric) => rubric.id === id) === (edit.kind === "add")) return undefined;
  switch (edit.kind) {
    case "add":
      return { rubrics: [...rubrics, edit.rubric] };
    case "modify":
      return { rubrics: rubrics.map((one) => (one.id === id ? { ...one, text: edit.text } : one)) };
    case "delete":
      return { rubrics: rubrics.filter((one) => one.id !== id) };
  }
}
