/** What an agent is told and what it remembers, as values: what learners without weights write. */
import { createHash } from "node:crypto";
import type { Spend } from "./chat.ts";
import type { Interval } from "./interval.ts";
import type { Rubric } from "./rubrics.ts";
import type { Provenance } from "./trainingExamples.ts";
import type { Id, Message } from "./types.ts";

/** Who made a part of an artefact, and from what, so that it can be traced and, with its source, removed. */
export interface Origins {
  /** "person", "reflection", "bootstrap", "import"… */
  readonly by: string;
  readonly from: Provenance;
  /** Of runs of ours. */
  readonly trajectories: readonly Id[];
}

/** A conversation that shows how it is done. */
export interface Example {
  readonly id: Id;
  readonly messages: readonly Message[];
  readonly origins: Origins;
}

/** What an agent is told before it begins. */
export interface InstructionSet {
  readonly kind: "instructions";
  /** Stands after the system message that there is, or is one. */
  readonly system: string;
  /** The text stands in place of the system message that there is. */
  readonly instead?: true;
  /** Descriptions in place of the tools' own, by name. */
  readonly tools: Readonly<Record<string, string>>;
  readonly examples: readonly Example[];
  /** Of the system text and the descriptions: all that went into them, through all versions before. */
  readonly origins: Origins;
}

/** A lesson: what to do, or what to beware of, in situations like the one described. */
export interface LibraryEntry {
  readonly id: Id;
  readonly kind: "strategy" | "warning";
  readonly when: string;
  readonly text: string;
  /** What it has been worth so far, in the units of the reward that it was judged by. */
  readonly score: number;
  /** Times that it was shown. */
  readonly shown: number;
  readonly origins: Origins;
}
export interface ExperienceLibrary {
  readonly kind: "experience";
  readonly entries: readonly LibraryEntry[];
}

/** What was done once, and what came of it. */
export interface Case {
  readonly id: Id;
  readonly situation: string;
  readonly plan: string;
  readonly success: boolean;
  readonly origins: Origins;
}
export interface CaseMemory {
  readonly kind: "cases";
  readonly cases: readonly Case[];
}

/** A small policy that writes a hint, which is shown to a large one. */
export interface Guide {
  readonly kind: "guide";
  /** Folder of a run or checkpoint, or the id of a version that answers. */
  readonly policy: string;
  /** How the hint stands in the large one's prompt; `{hint}` is replaced. */
  readonly frame: string;
}

/** What a judge goes by. No policy is told it. */
export interface RubricSet {
  readonly kind: "rubrics";
  readonly rubrics: readonly Rubric[];
  /** Of all of them. */
  readonly origins: Origins;
}

/** A policy that is a program: where it is in force it acts, in place of a model, and nobody is told it. */
export interface BehaviourTree {
  readonly kind: "tree";
  /** A node a line, in the language of `memory/behaviourTree`. */
  readonly tree: string;
  /** What a tree of its world may name. */
  readonly facts: readonly string[];
  readonly skills: readonly string[];
  /** The skill of a turn for which the tree has none. */
  readonly idle: string;
  readonly origins: Origins;
}

export type Artefact = InstructionSet | ExperienceLibrary | CaseMemory | Guide | RubricSet | BehaviourTree;
export type ArtefactKind = Artefact["kind"];
export const artefactKinds = [
  "instructions",
  "experience",
  "cases",
  "guide",
  "rubrics",
  "tree",
] as const satisfies readonly ArtefactKind[];

/** What each kind of artefact is called. */
export const artefactWords: Readonly<Record<ArtefactKind, string>> = {
  instructions: "instruction set",
  experience: "experience library",
  cases: "case memory",
  guide: "guide",
  rubrics: "rubrics of a judge",
  tree: "behaviour tree",
};

/** One state of an artefact. Never changed: what is changed is a further version. */
export interface ArtefactVersion<A extends Artefact = Artefact> {
  /** Of its content alone: equal artefacts have equal ids. */
  readonly id: Id;
  /** Shared by all versions of what one person would call the same thing. */
  readonly name: string;
  readonly artefact: A;
  /** Versions that it was made from: none at first, two where two were merged. */
  readonly parents: readonly Id[];
  readonly why: string;
  /** What was read when it was made: the feedback and episodes that led to the change. */
  readonly origins: Origins;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** Parts that were erased since, with what they were made from: its id is that of all that it was. */
  readonly erased?: number;
}

/** A version of an artefact, with the id of its content. */
export const artefactVersion = <A extends Artefact>(
  version: Omit<ArtefactVersion<A>, "id" | "erased">,
): ArtefactVersion<A> => ({ id: artefactId(version.artefact), ...version });

/** How well a version did somewhere. It may be measured more than once. */
export interface ArtefactMeasure {
  readonly id: Id;
  /** Of the version. */
  readonly artefact: Id;
  /** Name of an environment and its split, as in "facts/test", or what else it was measured on. */
  readonly where: string;
  /** Folder or id of the run that measured it. */
  readonly run?: string;
  readonly success: Interval;
  /** What measuring it cost. */
  readonly spent?: Spend;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The first 16 hexadecimal digits of the SHA-256 of its content, whatever the order of its keys. */
export function artefactId(artefact: Artefact): Id {
  return createHash("sha256").update(JSON.stringify(artefact, inOrder)).digest("hex").slice(0, 16);
}

/** A `JSON.stringify` replacer under which equal objects have equal texts. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
