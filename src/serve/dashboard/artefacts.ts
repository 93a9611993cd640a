/** Artefacts for the dashboard's pages: versions, changes, reasons, the feedback behind them, and their effect on success. */

import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { artefactDiff, artefactParts } from "../../common/artefacts/diff.ts";
import { mapById } from "../../common/mapById.ts";
import { foldedDiff, mostPairs } from "../../common/text/lineDiff.ts";
import {
  type ArtefactMeasure,
  type ArtefactVersion,
  artefactWords,
  type Origins,
} from "../../core/artefact.ts";
import type { TrafficSplit, Version } from "../../core/served.ts";
import type { Id } from "../../core/types.ts";
import type { ArtefactStore, ArtefactSummary } from "../../store/artefacts.ts";
import type { RunStore } from "../../store/runStore.ts";
import type { SignalFilter, TrafficStore } from "../../store/trafficStore.ts";
import type { Gated } from "../auth.ts";
import { takes } from "../query.ts";
import type { ArtefactDetail, ArtefactRow, ArtefactsPage, ServedAs } from "./types.ts";
import { range } from "./values.ts";

/** The stores that the pages read: learners write to the run store, people and corrections to the production store. */
export interface ArtefactSources {
  readonly store: Pick<RunStore, "artefacts" | "trajectories">;
  readonly production: Pick<TrafficStore, "artefacts" | "signals" | "versions" | "splits">;
}

/** Most versions in one response; most relatives on one page; most signals, episodes and places searched for them on one page. */
const [mostListed, mostRelatives, mostHeard] = [2000, 300, 200];

/** Routes below `/api/artefacts`. */
export function artefactRoutes(sources: ArtefactSources): Hono<Gated> {
  return new Hono<Gated>()
    .get("/", takes(), async (c) => {
      const { rows } = await lineages(sources);
      return c.json({
        artefacts: rows.slice(-mostListed),
        total: rows.length,
      } satisfies ArtefactsPage);
    })
    .get("/:id", async (c) => {
      const id = c.req.param("id");
      const version = await versionIn(sources, id);
      const { rows, splits } = await lineages(sources);
      const row = rows.find((one) => one.id === id);
      if (!version || !row) throw new HTTPException(404, { message: `There is no artefact ${id} here.` });
      const lineage = relativesOf(rows, row);
      return c.json({
        ...row,
        lineage,
        ...(await contentsOf(sources, version)),
        ...(await sourcesOf(sources, version.origins, runsOf(lineage))),
        splits: splitsWith(splits, row.served),
      } satisfies ArtefactDetail);
    });
}

/** Context lines before and after a change. */
const around = 3;

interface Lineages {
  /** Oldest first. */
  readonly rows: readonly ArtefactRow[];
  readonly splits: readonly TrafficSplit[];
}

async function lineages({ store, production }: ArtefactSources): Promise<Lineages> {
  // if both stores are one database, each version is found twice
  const both = [production.artefacts, store.artefacts];
  const versions = distinct((await Promise.all(both.map((kept) => kept.list()))).flat());
  const measures = distinct((await Promise.all(both.map((kept) => kept.measures()))).flat());
  const [answering, splits] = [await production.versions(), await production.splits()];
  const measured = Map.groupBy(measures, ({ artefact }) => artefact);
  const told = Map.groupBy(answering, toldBy);
  const shares = splits.at(-1)?.shares ?? {};
  const rows = versions.map((version) =>
    rowOf(version, measured.get(version.id) ?? [], servedAs(told.get(version.id) ?? [], shares)),
  );
  return { rows: rows.sort((a, b) => a.created - b.created), splits };
}

/** The first item of each id. */
function distinct<T extends { readonly id: Id }>(all: readonly T[]): readonly T[] {
  const byId = new Map<Id, T>();
  for (const one of all) if (!byId.has(one.id)) byId.set(one.id, one);
  return [...byId.values()];
}

const toldBy = ({ backend }: Version): Id | undefined =>
  backend.kind === "artefact" ? backend.artefact : undefined;

const servedAs = (versions: readonly Version[], shares: Readonly<Record<Id, number>>): readonly ServedAs[] =>
  versions.map(({ id, name }) => {
    const share = shares[id];
    return { version: id, name, ...(share !== undefined && { share }) };
  });

function rowOf(
  version: ArtefactSummary,
  measures: readonly ArtefactMeasure[],
  served: readonly ServedAs[],
): ArtefactRow {
  const { id, name, kind, parts, parents, why, created, erased, origins } = version;
  const { signals, sessions } = origins.from;
  return {
    id,
    name,
    is: artefactWords[kind],
    parts,
    parents,
    why,
    by: origins.by,
    created,
    ...(erased !== undefined && { erased }),
    from: { signals: signals.length, sessions: sessions.length, episodes: origins.trajectories.length },
    success: measures
      .map(({ where, run, success, at }) => {
        return { where, ...(run !== undefined && { run }), success: range(success), at };
      })
      .sort((a, b) => a.at - b.at),
    served,
  };
}

const versionIn = async (
  { store, production }: { store: HasArtefacts; production: HasArtefacts },
  id: Id,
): Promise<ArtefactVersion | undefined> =>
  (await production.artefacts.get(id)) ?? (await store.artefacts.get(id));

interface HasArtefacts {
  readonly artefacts: ArtefactStore;
}

async function contentsOf(
  sources: ArtefactSources,
  version: ArtefactVersion,
): Promise<Pick<ArtefactDetail, "contents" | "changes">> {
  const parents = await Promise.all(version.parents.map((id) => versionIn(sources, id)));
  const spend = { pairs: mostPairs };
  return {
    contents: artefactParts(version.artefact),
    changes: parents.flatMap((before) => {
      if (!before) return [];
      const { changes, same } = artefactDiff(before, version, spend);
      const parts = changes.map((change) => ({ ...change, lines: foldedDiff(change.lines, around) }));
      return [{ before: before.id, parts, same }];
    }),
  };
}

/** The nearest relatives (parents and children over several generations), oldest first. */
function relativesOf(rows: readonly ArtefactRow[], of: ArtefactRow): readonly ArtefactRow[] {
  const byId = mapById(rows);
  const children = new Map<Id, ArtefactRow[]>();
  for (const row of rows) {
    for (const parent of row.parents) children.set(parent, [...(children.get(parent) ?? []), row]);
  }
  const found = new Set([of]);
  // breadth-first search: the set grows during the iteration
  for (const row of found) {
    const parents = row.parents.flatMap((id) => byId.get(id) ?? []);
    for (const next of [...parents, ...(children.get(row.id) ?? [])]) {
      if (found.size < mostRelatives) found.add(next);
    }
  }
  return [...found].sort((a, b) => a.created - b.created);
}

const runsOf = (lineage: readonly ArtefactRow[]): readonly Id[] => [
  ...new Set(lineage.flatMap(({ success }) => success.flatMap(({ run }) => run ?? []))),
];

async function sourcesOf(
  { store, production }: ArtefactSources,
  { from, trajectories }: Origins,
  runs: readonly Id[],
): Promise<Pick<ArtefactDetail, "feedback" | "sessions" | "episodes">> {
  return {
    feedback: await feedbackSince(production, from),
    sessions: from.sessions.slice(0, mostHeard),
    episodes: await Promise.all(
      trajectories.slice(0, mostHeard).map(async (id) => {
        for (const run of runs) {
          const found = (await store.trajectories(run, { id })).find((t) => t.id === id);
          if (found) return { id, at: { run, phase: found.phase, iteration: found.iteration } };
        }
        return { id };
      }),
    ),
  };
}

/** Finds signals by user and target, since the store has no lookup by signal id. */
async function feedbackSince(
  production: Pick<TrafficStore, "signals">,
  from: Origins["from"],
): Promise<ArtefactDetail["feedback"]> {
  const wanted = new Set(from.signals.slice(0, mostHeard));
  const found: ArtefactDetail["feedback"][number][] = [];
  const places: readonly SignalFilter[] = [
    ...from.sessions.map((session) => ({ session })),
    ...from.responses.map((response) => ({ response })),
    ...from.users.map((user) => ({ user })),
  ];
  const [only] = from.sessions.length === 1 ? from.sessions : [];
  for (const place of places.slice(0, mostHeard)) {
    if (wanted.size === 0) break;
    for await (const signal of production.signals(place)) {
      if (!wanted.delete(signal.id)) continue;
      const session = place.session ?? signal.about.find((target) => target.session)?.session ?? only;
      found.push({ signal, ...(session !== undefined && { session }) });
    }
  }
  return found.sort((a, b) => a.signal.at - b.signal.at);
}

/** The splits in which one of the versions had a share. */
function splitsWith(splits: readonly TrafficSplit[], served: readonly ServedAs[]): ArtefactDetail["splits"] {
  return splits.flatMap(({ since, shares, why }) => {
    const own = served.flatMap(({ version }) => {
      const share = shares[version];
      return share === undefined ? [] : [{ version, share }];
    });
    return own.length === 0 ? [] : [{ since, shares: own, why }];
  });
}
