/** A version that the command line states by what another one is told. */
import { WhetstoneError } from "../core/errors.ts";
import type { Version } from "../core/served.ts";
import { versionWithArtefact } from "../serve/versionWithArtefact.ts";
import { artefactNamed } from "../store/artefactNamed.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import { artefactAt } from "./artefacts.ts";
import { guidedVersion } from "./guidedVersion.ts";
import { named } from "./versionText.ts";

export interface ArtefactVersionFlags {
  readonly instructions?: string;
  readonly artefact?: string;
  readonly over?: string;
  readonly guide?: string;
  readonly frame?: string;
  readonly upstream?: string;
  readonly policy?: string;
  readonly store: string;
}

/**
 * The version, with its artefact in the store; nothing where the flags state another kind of version.
 * @throws WhetstoneError `option.range` where they state two kinds, or a guide is missing.
 */
export async function artefactVersionByFlags(
  flags: ArtefactVersionFlags,
  production: Pick<TrafficStore, "artefacts" | "splits" | "versions" | "addVersion">,
  known: readonly Version[],
): Promise<Version | undefined> {
  const { instructions, artefact, over, guide, frame } = flags;
  const stated = Object.entries({ instructions, artefact, upstream: flags.upstream, policy: flags.policy });
  const given = stated.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`]));
  if (instructions === undefined && artefact === undefined) {
    if (guide !== undefined && given.length === 0) {
      const base = over === undefined ? undefined : named(known, over, "--over");
      const flagged = { guide, store: flags.store, ...(frame !== undefined && { frame }) };
      return await guidedVersion(flagged, base, production, known);
    }
    if (over === undefined && guide === undefined && frame === undefined) return undefined;
    throw wrong(
      over === undefined ? (guide === undefined ? "--frame" : "--guide") : "--over",
      given.length === 0 ? "no artefact" : `${given[0]} beside it`,
      "Add --instructions, --artefact or --guide: it says which artefact the version uses.",
    );
  }
  if (frame !== undefined)
    throw wrong("--frame", "--frame with an artefact, which has a frame of its own", "Leave --frame out.");
  if (given.length > 1) throw wrong("versions add", given.join(" and "), "Keep one of these options.");
  return await versionWithArtefact(
    {
      artefact:
        instructions === undefined
          ? await artefactNamed(production.artefacts, artefact ?? "", "--artefact")
          : await artefactAt(instructions),
      ...(over !== undefined && { over: named(known, over, "--over") }),
      ...(guide !== undefined && { guide: named(known, guide, "--guide") }),
    },
    { production, known, now: Date.now(), field: (name) => `--${name}` },
  );
}

const wrong = (where: string, got: string, fix: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where,
    got,
    expected: "one artefact, and one version that it is applied to",
    fix,
  });
