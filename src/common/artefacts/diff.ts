/** The parts of an artefact, and the differences between two versions, for display. */
import type { Artefact, ArtefactVersion, Origins } from "../../core/artefact.ts";
import type { Message } from "../../core/types.ts";
import { type LineChange, lineDiff, mostPairs, type PairsLeft } from "../text/lineDiff.ts";

/** A named text of an artefact. */
export interface ArtefactPart {
  /** Identifies the part across versions. */
  readonly key: string;
  readonly title: string;
  readonly text: string;
  /** Absent where no origins are recorded, as for the frame of a guide. */
  readonly origins?: Origins;
  /** For a lesson: its estimated value so far, and the number of times that it was shown. */
  readonly score?: number;
  readonly shown?: number;
}

export interface PartChange {
  /** "scored": the text is unchanged and the score differs. */
  readonly kind: "added" | "removed" | "changed" | "scored";
  readonly title: string;
  /** Changes of the text; empty where only the score differs. */
  readonly lines: readonly LineChange[];
  /** Scores before and after, where they exist and differ. */
  readonly score?: { readonly before?: number; readonly after?: number };
  /** Origins of the new part; for a removed part, of the old one. */
  readonly origins?: Origins;
}

export interface ArtefactDiff {
  readonly changes: readonly PartChange[];
  /** Number of parts that are equal in both. */
  readonly same: number;
}

/** The non-empty texts of an artefact, in prompt order. */
export function artefactParts(artefact: Artefact): readonly ArtefactPart[] {
  return allParts(artefact).filter(({ text }) => text !== "");
}

function allParts(artefact: Artefact): readonly ArtefactPart[] {
  switch (artefact.kind) {
    case "instructions": {
      const { system, instead, tools, examples, origins } = artefact;
      const place = instead ? "System message, in place of the one that there is" : "System message";
      return [
        { key: "system", title: place, text: system, origins },
        ...Object.entries(tools).map(([name, text]) => {
          return { key: `tool ${name}`, title: `Tool ${name}`, text, origins };
        }),
        ...examples.map(({ id, messages, origins }) => {
          return {
            key: `example ${id}`,
            title: "Example",
            text: messages.map(sayMessage).join("\n"),
            origins,
          };
        }),
      ];
    }
    case "experience":
      return artefact.entries.map(({ id, kind, when, text, score, shown, origins }) => {
        const title = kind === "strategy" ? "Strategy" : "Warning";
        return { key: id, title, text: when === "" ? text : `When: ${when}\n${text}`, origins, score, shown };
      });
    case "cases":
      return artefact.cases.map(({ id, situation, plan, success, origins }) => {
        const title = success ? "Case that went well" : "Case that failed";
        return { key: id, title, text: `Situation: ${situation}\n${plan}`, origins };
      });
    case "guide":
      return [
        { key: "frame", title: "Frame of the hint", text: artefact.frame },
        { key: "policy", title: "Policy that writes the hint", text: artefact.policy },
      ];
    case "rubrics":
      return artefact.rubrics.map(({ id, kind, text }) => {
        return {
          key: id,
          title: kind === "skill" ? "Criterion" : "Analyser",
          text,
          origins: artefact.origins,
        };
      });
    case "tree": {
      const { tree, facts, skills, idle, origins } = artefact;
      const names = [`Facts: ${facts.join(", ")}`, `Skills: ${skills.join(", ")}`, `Else: ${idle}`];
      return [
        { key: "tree", title: "Tree", text: tree, origins },
        { key: "names", title: "What it may name", text: names.join("\n") },
      ];
    }
  }
}

const sayMessage = ({ role, content, toolCalls = [] }: Message): string =>
  [`${role}: ${content}`, ...toolCalls.map((call) => `calls ${call.name} ${call.arguments}`)].join("\n");

/**
 * Differences between two artefacts: first added and changed parts in the order of the new artefact, then removed parts.
 * Parts are matched by key, so a moved part is unchanged; parts with equal texts match even if their keys differ.
 * @param spend as for `lineDiff`.
 */
export function artefactDiff(
  before: Pick<ArtefactVersion, "artefact">,
  after: Pick<ArtefactVersion, "artefact">,
  spend: PairsLeft = { pairs: mostPairs },
): ArtefactDiff {
  const [old, now] = [artefactParts(before.artefact), artefactParts(after.artefact)];
  const partner = pairs(old, now);
  const kept = new Set(partner.values());
  const made = now.map((part) => changeOf(partner.get(part), part, spend));
  const changes = made.filter((change) => change !== undefined);
  const gone = old.filter((part) => !kept.has(part)).map((part) => changeOf(part, undefined, spend));
  return {
    changes: [...changes, ...gone.filter((change) => change !== undefined)],
    same: made.length - changes.length,
  };
}

/** Maps each part of the new artefact to its counterpart in the old one. */
function pairs(
  old: readonly ArtefactPart[],
  now: readonly ArtefactPart[],
): ReadonlyMap<ArtefactPart, ArtefactPart> {
  const found = new Map<ArtefactPart, ArtefactPart>();
  const byKey = new Map(old.map((part) => [part.key, part]));
  for (const part of now) {
    const before = byKey.get(part.key);
    if (before) found.set(part, before);
  }
  const taken = new Set(found.values());
  const byText = new Map(
    old.filter((part) => !taken.has(part)).map((part) => [`${part.title}\0${part.text}`, part]),
  );
  for (const part of now) {
    const text = `${part.title}\0${part.text}`;
    const before = found.has(part) ? undefined : byText.get(text);
    if (!before) continue;
    found.set(part, before);
    byText.delete(text);
  }
  return found;
}

function changeOf(
  before: ArtefactPart | undefined,
  after: ArtefactPart | undefined,
  spend: PairsLeft,
): PartChange | undefined {
  const part = after ?? before;
  if (!part) return undefined;
  const reworded = before?.text !== after?.text || before?.title !== after?.title;
  const rescored = before?.score !== after?.score;
  if (!reworded && !rescored) return undefined;
  const kind = !before ? "added" : !after ? "removed" : reworded ? "changed" : "scored";
  return {
    kind,
    title: before && after && before.title !== after.title ? `${before.title} → ${after.title}` : part.title,
    lines: linesOf(kind, before?.text ?? "", after?.text ?? "", spend),
    ...(rescored && { score: scores(before?.score, after?.score) }),
    ...(part.origins && { origins: part.origins }),
  };
}

const scores = (before: number | undefined, after: number | undefined) => ({
  ...(before !== undefined && { before }),
  ...(after !== undefined && { after }),
});

function linesOf(
  kind: PartChange["kind"],
  before: string,
  after: string,
  spend: PairsLeft,
): readonly LineChange[] {
  switch (kind) {
    case "added":
      return after.split("\n").map((text) => ({ kind, text }));
    case "removed":
      return before.split("\n").map((text) => ({ kind, text }));
    case "changed":
      return lineDiff(before, after, spend);
    case "scored":
      return [];
  }
}
