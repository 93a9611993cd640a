/** A version that the command line states by what another one is told. */
import { WhetstoneError } from "../core/errors.ts";
import type { Version } from "../core/served.ts";
import { versionOf } from "../serve/gateway/open.ts";
import type { Production } from "../store/production.ts";
import { artefactAt, artefactNamed } from "./artefacts.ts";
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
export async function toldVersion(
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
  const version =
    instructions === undefined
      ? await artefactNamed(production.artefacts, artefact ?? "", "--artefact")
      : await artefactAt(instructions);
  const base = over === undefined ? await mostHeard(production, known) : named(known, over, "--over");
  const isGuide = version.artefact.kind === "guide";
  if (isGuide !== (guide !== undefined)) {
    throw isGuide
      ? wrong(
          "versions add",
          "a guide that nobody writes hints for",
          "Name the version that does with --guide.",
        )
      : wrong("--guide", `an artefact that is no guide (${version.artefact.kind})`, "Leave --guide out.");
  }
  await production.artefacts.add(version);
  return versionOf(
    {
      kind: "artefact",
      artefact: version.id,
      over: base.id,
      ...(guide === undefined ? {} : { guide: named(known, guide, "--guide").id }),
    },
    Date.now(),
    "",
    `${version.name}-on-${base.name}`,
  );
}

/** The version with the largest share; the only one, where there is no split. */
async function mostHeard(
  production: Pick<Production, "splits">,
  known: readonly Version[],
): Promise<Version> {
  const split = (await production.splits()).at(-1);
  const [id] = Object.entries(split?.shares ?? {}).sort(([, a], [, b]) => b - a)[0] ?? [];
  const most = known.find((version) => version.id === id) ?? (known.length === 1 ? known[0] : undefined);
  if (most) return most;
  throw wrong(
    "--over",
    "nobody",
    known.length === 0 ? "Add a version that answers first: --upstream URL" : "Say which version answers.",
  );
}

const wrong = (where: string, got: string, mend: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where,
    got,
    expected: "one artefact, and one version that is told it",
    mend,
  });
