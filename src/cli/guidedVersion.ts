/** A version that answers under the hints of a guide, stated by who writes them. */

import { writtenBy } from "../common/artefacts/origins.ts";
import { artefactVersion, type Guide } from "../core/artefact.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Version } from "../core/served.ts";
import { versionWithArtefact } from "../serve/versionWithArtefact.ts";
import { keptVersion } from "../store/keptVersion.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import { versionByWeights } from "./versionByWeights.ts";

export interface GuideFlags {
  /** A version, by id or name, or a run or checkpoint. */
  readonly guide: string;
  /** How the hint stands in the prompt. Default: as in the environment `guided`. */
  readonly frame?: string;
  /** Where runs are found by name. */
  readonly store: string;
}

/**
 * The version, with its artefact and the guide's own version in the store.
 * @param over who answers. Default: who answers most.
 * @throws WhetstoneError `option.range` for a frame without a place for the hint; `checkpoint.missing` for a guide that is
 * neither a version nor a run.
 */
export async function guidedVersion(
  { guide: text, frame = "Hint: {hint}", store }: GuideFlags,
  over: Version | undefined,
  production: Pick<TrafficStore, "artefacts" | "splits" | "versions" | "addVersion">,
  known: readonly Version[],
): Promise<Version> {
  if (!frame.includes("{hint}")) throw noPlace(frame);
  const there = known.find(({ id, name }) => id === text || name === text);
  const guide = there ?? (await versionByWeights("--guide", text, store));
  if (!there) await keptVersion(production, guide);
  const now = Date.now();
  const artefact = artefactVersion<Guide>({
    name: guide.name,
    artefact: { kind: "guide", policy: guide.id, frame },
    parents: [],
    why: `hints by ${guide.id}`,
    origins: writtenBy("person"),
    created: now,
  });
  return await versionWithArtefact(
    { artefact, guide, ...(over && { over }) },
    { production, known, now, field: (name) => `--${name}` },
  );
}

const noPlace = (got: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "--frame",
    got: `"${got}"`,
    expected: "a text with {hint} in it",
    fix: "Write {hint} at the place of the hint.",
  });
