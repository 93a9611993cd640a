/** A judge's rubrics and analysers, as a versioned library. */
import type { Able } from "./evaluator.ts";
import type { Id } from "./types.ts";

/** A "skill" is a criterion in words; a "tool" is the prompt of an analyser, whose findings the judge reads. */
export interface Rubric {
  readonly id: Id;
  readonly kind: "skill" | "tool";
  readonly text: string;
}

/** One state of a library. Immutable: each edit makes a new one. */
export interface RubricLibrary {
  readonly rubrics: readonly Rubric[];
}

/** A judged item: the request and the response, as plain data. */
export interface Candidate {
  readonly asked: string;
  readonly reply: string;
}

/**
 * A judge that follows a library: an evaluator whose scores of candidates for one task, shown together, are in [0, 1]. The
 * judge itself is frozen; only the library changes.
 */
export type RubricJudge<Item = Candidate> = (library: RubricLibrary) => Able<"score", Item>;

/** One edit of a library. */
export type RubricEdit =
  | { readonly kind: "add"; readonly rubric: Rubric }
  | { readonly kind: "modify"; readonly id: Id; readonly text: string }
  | { readonly kind: "delete"; readonly id: Id };

/** The library after an edit; undefined where the edit is impossible: an added id exists already, or another id does not exist. */
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
