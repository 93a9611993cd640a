/** Versions of an artefact as a tree: why each was made, and how well it did. */
import type { ArtefactRow, ArtefactSuccess, Range, ServedAs } from "../../../src/serve/dashboard/types.ts";
import { branchesOf, type Stop } from "./branches.ts";
import { moment, percent } from "./words.ts";

interface LineageProps {
  readonly rows: readonly ArtefactRow[];
  /** Id of the one that is looked at. */
  readonly here?: string;
}

export function Lineage({ rows, here }: LineageProps) {
  return (
    <div class="lineage">
      {branchesOf(rows).map((branch) => (
        <Branch key={branch[0]?.of.id} stops={branch} here={here} />
      ))}
    </div>
  );
}

function Branch({
  stops,
  here,
}: {
  readonly stops: readonly Stop<ArtefactRow>[];
  readonly here?: string | undefined;
}) {
  return (
    <ol>
      {stops.map(({ of, branches }) => (
        <li key={of.id}>
          <Row row={of} here={of.id === here} />
          {branches.map((branch) => (
            <Branch key={branch[0]?.of.id} stops={branch} here={here} />
          ))}
        </li>
      ))}
    </ol>
  );
}

function Row({ row, here }: { readonly row: ArtefactRow; readonly here: boolean }) {
  const [, ...merged] = row.parents;
  const last = row.success.at(-1);
  return (
    <div class="generation">
      <a href={artefactPath(row.id)} aria-current={here ? "true" : undefined}>
        <bdi>{row.why || row.name}</bdi>
      </a>
      {last && <span class="number">{sayRange(last.success)}</span>}
      {row.served.map((served) => (
        <span key={served.version} class="good">
          {sayServed(served)}
        </span>
      ))}
      <span class="faint">
        {row.id.slice(0, 8)} · by <bdi>{row.by}</bdi>
        {saySources(row)} · {moment(new Date(row.created).toISOString())}
        {merged.length > 0 && ` · merged with ${merged.map((id) => id.slice(0, 8)).join(", ")}`}
      </span>
    </div>
  );
}

export const artefactPath = (id: string): string => `/artefacts/${encodeURIComponent(id)}`;

/** "61.0 % [55.1 %, 66.9 %]". */
export function sayRange({ mean, low, high }: Range): string {
  const said = (share: number | null): string => (share === null ? "–" : percent(share));
  return low === null && high === null ? said(mean) : `${said(mean)} [${said(low)}, ${said(high)}]`;
}

export function sayServed({ name, share }: ServedAs): string {
  if (share === undefined) return `told to ${name}`;
  return share === 0 ? `${name} answers nobody` : `${name} answers ${percent(share)}`;
}

function saySources({ from: { signals, episodes } }: ArtefactRow): string {
  const said = [
    ...(signals > 0 ? [`${signals} ${signals === 1 ? "signal" : "signals"}`] : []),
    ...(episodes > 0 ? [`${episodes} ${episodes === 1 ? "episode" : "episodes"}`] : []),
  ];
  return said.length === 0 ? "" : ` from ${said.join(" and ")}`;
}

/** Places where any of them was measured, and what was found there, oldest version first. */
export function measuredIn(
  rows: readonly ArtefactRow[],
): ReadonlyMap<string, readonly { readonly row: ArtefactRow; readonly measure: ArtefactSuccess }[]> {
  return Map.groupBy(
    rows.flatMap((row) => row.success.map((measure) => ({ row, measure }))),
    ({ measure }) => measure.where,
  );
}
