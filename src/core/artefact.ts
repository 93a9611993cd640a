/** Artefacts: instructions, memories and programs of an agent, as immutable values. Learners without weights write them. */
import type { Spend } from "./chat.ts";
import { sha256 } from "./digest.ts";
import type { Interval } from "./interval.ts";
import type { Rubric } from "./rubrics.ts";
import type { Provenance } from "./trainingExamples.ts";
import type { Id, Message } from "./types.ts";

/** Provenance of a part of an artefact: who made it, and from what. Used to trace it, and to remove it together with its source. */
export interface Origins {
  /** "person", "reflection", "bootstrap", "import"… */
  readonly by: string;
  readonly from: Provenance;
  /** Ids of trajectories from Whetstone runs. */
  readonly trajectories: readonly Id[];
}

/** A conversation that demonstrates the task (few-shot example). */
export interface Example {
  readonly id: Id;
  readonly messages: readonly Message[];
  readonly origins: Origins;
}

/** System text, tool descriptions and examples that are added to an agent's prompt. */
export interface InstructionSet {
  readonly kind: "instructions";
  /** Appended to the conversation's system message; becomes the system message where there is none. */
  readonly system: string;
  /** `system` replaces the conversation's system message. */
  readonly instead?: true;
  /** Replacement descriptions, by tool name. */
  readonly tools: Readonly<Record<string, string>>;
  readonly examples: readonly Example[];
  /** Origins of the system text and the descriptions: every source, over all earlier versions. */
  readonly origins: Origins;
}

/** Entry of an experience library: what to do, or what to avoid, in situations like the one described. */
export interface LibraryEntry {
  readonly id: Id;
  readonly kind: "strategy" | "warning";
  readonly when: string;
  readonly text: string;
  /** Its estimated value so far, in units of the reward that scored it. */
  readonly score: number;
  /** Number of times that it was shown. */
  readonly shown: number;
  readonly origins: Origins;
}
/** Lessons from earlier episodes. A selection of them, the most relevant to the situation, is added to an agent's prompt. */
export interface ExperienceLibrary {
  readonly kind: "experience";
  readonly entries: readonly LibraryEntry[];
}

/** One past episode: the situation, the plan and the outcome. */
export interface Case {
  readonly id: Id;
  readonly situation: string;
  readonly plan: string;
  readonly success: boolean;
  readonly origins: Origins;
}
/** Past episodes, of which those most like the present situation are added to an agent's prompt. */
export interface CaseMemory {
  readonly kind: "cases";
  readonly cases: readonly Case[];
}

/** A small policy that writes a hint for a large model. */
export interface Guide {
  readonly kind: "guide";
  /** Folder of a run or checkpoint, or the id of a served version. */
  readonly policy: string;
  /** Template of the text in the large model's prompt; `{hint}` is replaced by the hint. */
  readonly frame: string;
}

/** The rubrics that a judge applies. They are never added to a policy's prompt. */
export interface RubricSet {
  readonly kind: "rubrics";
  readonly rubrics: readonly Rubric[];
  /** Origins of all rubrics together. */
  readonly origins: Origins;
}

/** A policy that is a program. While it is the current artefact, it acts in place of the model; it is added to no prompt. */
export interface BehaviourTree {
  readonly kind: "tree";
  /** One node per line, in the language of `memory/behaviourTree`. */
  readonly tree: string;
  /** Facts and skills that the tree may name. */
  readonly facts: readonly string[];
  readonly skills: readonly string[];
  /** The skill that is used in a turn for which the tree selects none. */
  readonly idle: string;
  readonly origins: Origins;
}

/** Text or a program that changes how a model acts or judges, written by a learner without weights or by a person. */
export type Artefact = InstructionSet | ExperienceLibrary | CaseMemory | Guide | RubricSet | BehaviourTree;
/** Distinguishes the forms of an artefact, which differ in how they are applied. */
export type ArtefactKind = Artefact["kind"];
/** Every kind of artefact. */
export const artefactKinds = [
  "instructions",
  "experience",
  "cases",
  "guide",
  "rubrics",
  "tree",
] as const satisfies readonly ArtefactKind[];

/** Display name of each kind of artefact. */
export const artefactWords: Readonly<Record<ArtefactKind, string>> = {
  instructions: "instruction set",
  experience: "experience library",
  cases: "case memory",
  guide: "guide",
  rubrics: "rubrics of a judge",
  tree: "behaviour tree",
};

/** One state of an artefact. Immutable: each change makes a new version. */
export interface ArtefactVersion<A extends Artefact = Artefact> {
  /** Hash of the content alone: equal artefacts have equal ids. */
  readonly id: Id;
  /** Name that all versions of one artefact share. */
  readonly name: string;
  readonly artefact: A;
  /** Parent versions: none for a first version, two for a merge. */
  readonly parents: readonly Id[];
  readonly why: string;
  /** The feedback and episodes that led to this version. */
  readonly origins: Origins;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** Number of parts erased since, together with their sources. `id` is still the hash of the original content. */
  readonly erased?: number;
}

/** A version of an artefact, with the id of its content. */
export const artefactVersion = <A extends Artefact>(
  version: Omit<ArtefactVersion<A>, "id" | "erased">,
): ArtefactVersion<A> => ({ id: artefactId(version.artefact), ...version });

/** A measurement of a version. A version may be measured more than once. */
export interface ArtefactMeasure {
  readonly id: Id;
  /** Id of the version. */
  readonly artefact: Id;
  /** Environment and split, as in "facts/test", or another name of what it was measured on. */
  readonly where: string;
  /** Folder or id of the run that measured it. */
  readonly run?: string;
  readonly success: Interval;
  /** Cost of the measurement. */
  readonly spent?: Spend;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The first 16 hexadecimal digits of the SHA-256 of its content, whatever the order of its keys. */
export function artefactId(artefact: Artefact): Id {
  return sha256(JSON.stringify(artefact, inOrder)).slice(0, 16);
}

/** A `JSON.stringify` replacer under which equal objects have equal texts. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
