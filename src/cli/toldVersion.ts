/** A version that the command line states by what another one is told. */
import { WhetstoneError } from "../core/errors.ts";
import type { Version } from "../core/served.ts";
import { toldVersion } from "../serve/toldVersion.ts";
import { artefactNamed } from "../store/artefactNamed.ts";
import type { Production } from "../store/production.ts";
import { artefactAt } from "./artefacts.ts";
import { named } from "./versionWords.ts";

export interface ToldFlags {
  readonly instructions?: string;
  readonly artefact?: string;
  readonly over?: string;
  readonly guide?: string;
  readonly upstream?: string;
  readonly policy?: string;
}

/**
 * The version, with its artefact in the store; nothing where the flags state another kind of version.
 * @throws WhetstoneError `option.range` where they state two kinds, or a guide is missing.
 */
export async function versionByFlags(
  flags: ToldFlags,
  production: Pick<Production, "artefacts" | "splits">,
  known: readonly Version[],
): Promise<Version | undefined> {
  const { instructions, artefact, over, guide } = flags;
  const stated = Object.entries({ instructions, artefact, upstream: flags.upstream, policy: flags.policy });
  const given = stated.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`]));
  if (instructions === undefined && artefact === undefined) {
    if (over === undefined && guide === undefined) return undefined;
    throw wrong(
      over === undefined ? "--guide" : "--over",
      "no artefact beside it",
      "Name --instructions or --artefact.",
    );
  }
  if (given.length > 1) throw wrong("versions add", given.join(" and "), "Leave all but one out.");
  return await toldVersion(
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

const wrong = (where: string, got: string, mend: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where,
    got,
    expected: "one artefact, and one version that is told it",
    mend,
  });
