/** Versions, splits and judgements in words, and versions and shares as people write them. */

import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { TrafficSplit, Version } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import { sayEstimate } from "../offpolicy/estimate.ts";
import type { LiveVersion, ReleaseState } from "../release/controller.ts";
import type { Decision, GuardrailState } from "../release/decision.ts";
import { duration, folded, type Io, number, percent, roomOf, table } from "./output.ts";

/** Who answers while there is no split, with that many versions: the gateway's flags decide, as `liveVersions` has it. */
export function noSplit(versions: number): string {
  const else_ =
    versions === 0
      ? "without one of these options it does not start"
      : versions === 1
        ? "without these options, the only version answers"
        : `without one of these options it does not start, since it cannot choose among ${versions} versions`;
  return `No split: the version that the gateway is started with (--upstream, --policy, --guide) answers all calls; ${else_}. Create one with: whetstone versions split VERSION=1`;
}

/** A version by its id, its name, or the beginning of one. */
export function named(known: readonly Version[], text: string, where: string): Version {
  const exact = known.filter((v) => v.id === text || v.name === text);
  const found =
    exact.length > 0 ? exact : known.filter((v) => v.id.startsWith(text) || v.name.startsWith(text));
  if (found.length === 1) return found[0]!;
  if (known.length === 0) throw noVersions(where, text);
  const ids = known.flatMap((v) => (v.name === v.id ? [v.id] : [v.name, v.id]));
  if (found.length === 0) throw unknownName(where, text, ids);
  throw new WhetstoneError("option.range", {
    where,
    got: `${text}, which is the name or the beginning of ${found.length} versions`,
    expected: "a single version",
    fix: `Use an id: ${found.map((v) => v.id).join(", ")}.`,
  });
}

const noVersions = (where: string, got: string): WhetstoneError =>
  new WhetstoneError("name.unknown", {
    where,
    got: `"${got}"`,
    expected: "a version, but the store has none yet",
    fix: "Add it with: whetstone versions add --upstream URL",
  });

export function sharesOf(known: readonly Version[], stated: readonly string[]): Record<Id, number> {
  const shares: Record<Id, number> = {};
  for (const text of stated) {
    const at = text.lastIndexOf("=");
    const share = text.slice(at + 1).endsWith("%")
      ? Number(text.slice(at + 1, -1)) / 100
      : Number(text.slice(at + 1));
    if (at <= 0 || at === text.length - 1 || Number.isNaN(share)) {
      throw new WhetstoneError("option.range", {
        where: "versions split",
        got: `"${text}"`,
        expected: "version=share, such as tuned=0.05 or tuned=5%",
        fix: "Give each version as name=share.",
      });
    }
    shares[named(known, text.slice(0, at), "versions split").id] = share;
  }
  return shares;
}

export const splitText = (shares: TrafficSplit["shares"]): string =>
  Object.entries(shares)
    .map(([version, share]) => `${version} ${percent(share)}`)
    .join(", ");
export const describedSplit = (split: TrafficSplit): string =>
  `Now: ${splitText(split.shares)}, by ${split.unit} (${split.why}).`;
export const time = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace("T", " ");

export function backendOf({ backend }: Version): string {
  switch (backend.kind) {
    case "upstream":
      return `${backend.model ?? "any model"} at ${backend.url}`;
    case "run":
      return backend.folder;
    case "local":
      return `${backend.name}, served from inside a process`;
    case "firstOf":
      return `the first that answers of ${backend.versions.join(", ")}`;
    case "artefact":
      return `${backend.over}, told ${backend.artefact}${backend.guide === undefined ? "" : `, hints by ${backend.guide}`}`;
  }
}

export const statusLine = ({ live, judgements }: ReleaseState): string =>
  judgements.length === 0
    ? live.length === 0
      ? "no split"
      : `${live.map((v) => v.version).join(", ")} alone`
    : judgements.map((j) => `${j.version}: ${j.decision} (${j.why})`).join("; ");

/** What is live, and what is to be thought of it. @param window in which what is said of a unit counts, in milliseconds. */
export function stateLines(
  state: ReleaseState,
  versions: number,
  window: number,
  io: Pick<Io, "terminal" | "width">,
): string[] {
  const { split, baseline, live, judgements } = state;
  if (!split) return folded(io, noSplit(versions));
  const width = roomOf(io);
  const open = live.reduce((sum, v) => sum + v.open, 0);
  const rows = live.map((v) => [
    v.version,
    percent(v.share),
    String(v.units),
    String(v.open),
    v.estimate ? sayEstimate(v.estimate) : unrewarded(v),
  ]);
  return [
    `Since ${time(split.since)} UTC, by ${split.unit}: ${split.why}`,
    ...table(["version", "share", "units", "open", "estimated mean reward (95 %, single look)"], rows, width),
    ...(open > 0
      ? folded(
          io,
          `${open} open: feedback on a unit counts until ${duration(window / 1000)} after its first response (--window).`,
        )
      : []),
    ...(judgements.length === 0 ? ["", "Only one version answers: there is nothing to compare."] : []),
    ...judgements.flatMap((j) => ["", ...sayJudgement(j, j.version, baseline ?? "", width)]),
  ];
}

/** Why a version has no mean reward. */
function unrewarded({ units, open }: LiveVersion): string {
  if (units > 0) return "no reward yet";
  return open > 0 ? "unknown until the first feedback window closes" : "no calls answered";
}

function sayJudgement(j: Decision, version: Id, baseline: Id, width: number): string[] {
  const { candidate, baseline: other, difference: d } = j;
  const arm = (of: Decision["candidate"]): string =>
    `${number(of.mean)} (${of.rewarded} of ${of.units} units)`;
  const guards = j.guardrails.map((g: GuardrailState) => [
    g.name,
    number(g.candidate),
    number(g.baseline),
    g.bound,
    g.state,
  ]);
  return [
    `${version} against ${baseline}: ${j.decision.toUpperCase()}, ${j.why}`,
    `mean reward ${arm(candidate)} against ${arm(other)}`,
    `difference ${number(d.mean)} [${number(d.low)}, ${number(d.high)}] at ${percent(j.confidence)}, valid at every look`,
    ...j.doubts.map((doubt) => `Careful: ${doubt}.`),
    ...(guards.length > 0
      ? ["", ...table(["guardrail", "candidate", "baseline", "limit", "state"], guards, width)]
      : []),
  ];
}
