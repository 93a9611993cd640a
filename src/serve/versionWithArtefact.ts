/** Builds a version that answers like another version with an artefact in its prompt; used by the command line and over HTTP. */
import { type ArtefactVersion, artefactWords } from "../core/artefact.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Version } from "../core/served.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import { versionOf } from "./gateway/open.ts";

export interface ArtefactVersionRequest {
  readonly artefact: ArtefactVersion;
  /** The version that answers. Default: the one with the largest share; without a split, the only version. */
  readonly over?: Version;
  /** The version that writes the hints. For guides only. */
  readonly guide?: Version;
}

export interface ArtefactVersionOptions {
  readonly production: Pick<TrafficStore, "artefacts" | "splits">;
  readonly known: readonly Version[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The field's name in errors, such as "--over" or "over". */
  readonly field: (name: "over" | "guide") => string;
}

/**
 * Adds the artefact to the store; the caller adds the version.
 * @throws WhetstoneError `option.range` if there is no version that answers, a guide's version is missing, or one is given for
 * another kind of artefact; `store.erased` if the artefact was made from erased data.
 */
export async function versionWithArtefact(
  { artefact, over, guide }: ArtefactVersionRequest,
  { production, known, now, field }: ArtefactVersionOptions,
): Promise<Version> {
  const base = over ?? (await mostHeard(production, known, field("over")));
  const { kind } = artefact.artefact;
  if (kind === "rubrics" || kind === "tree")
    throw wrong(
      "artefact",
      `${artefact.name} ${artefact.id}, ${artefactWords[kind]}, which cannot be applied to a version`,
      "Name instructions, lessons, cases or a guide.",
    );
  if (kind === "guide" && !guide)
    throw wrong(
      field("guide"),
      "nobody, for an artefact that is a guide",
      `Name the version that writes the hints with ${field("guide")}.`,
    );
  if (kind !== "guide" && guide)
    throw wrong(
      field("guide"),
      `${guide.id}, for an artefact that is no guide (${kind})`,
      `Leave ${field("guide")} out.`,
    );
  await production.artefacts.add(artefact);
  const backend = { kind: "artefact", artefact: artefact.id, over: base.id } as const;
  return versionOf(
    guide ? { ...backend, guide: guide.id } : backend,
    now,
    "",
    `${artefact.name}-on-${base.name}`,
  );
}

async function mostHeard(
  production: Pick<TrafficStore, "splits">,
  known: readonly Version[],
  where: string,
): Promise<Version> {
  const split = (await production.splits()).at(-1);
  const [id] = Object.entries(split?.shares ?? {}).sort(([, a], [, b]) => b - a)[0] ?? [];
  const most = known.find((version) => version.id === id) ?? (known.length === 1 ? known[0] : undefined);
  if (most) return most;
  const fix = known.length === 0 ? "Add a version that answers first." : "Say which version answers.";
  throw wrong(where, "nobody", fix);
}

const wrong = (where: string, got: string, fix: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where,
    got,
    expected: "one artefact, and one version that it is applied to",
    fix,
  });
