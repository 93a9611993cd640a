/** All runs, the last started first, as they go on: to find, sort, tag, put away and compare. */
import { signal } from "@preact/signals";
import { memo } from "preact/compat";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { RunRow, RunsChange } from "../../../src/serve/dashboard/types.ts";
import type { SessionsBody } from "../../../src/serve/records.ts";
import { ask, messageOf, useEvents } from "../api.ts";
import { type InAddress, useInAddress } from "../parts/inAddress.ts";
import { useNear } from "../parts/near.ts";
import { Empty, Waiting } from "../parts/notice.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { SaveTable } from "../parts/table.tsx";
import { duration, moment, percent } from "../parts/words.ts";

const archived = "archived";
/** Rows of one part of the table. */
const part = 8;

interface Column {
  readonly name: string;
  /** What it is sorted by; the largest first where `down`. */
  readonly key: (run: RunRow) => string | number;
  readonly down?: boolean;
}

const newest: Column = { name: "Started", key: (run) => run.started, down: true };
const columns: readonly Column[] = [
  { name: "Run", key: (run) => run.name },
  { name: "Success in training", key: (run) => lastOf(run) ?? -1, down: true },
  { name: "Held out", key: (run) => run.success?.mean ?? -1, down: true },
  { name: "State", key: (run) => run.state },
  { name: "Environment", key: (run) => run.env },
  { name: "Method", key: (run) => run.method },
  { name: "Seed", key: (run) => run.seed },
  { name: "Time", key: (run) => run.seconds, down: true },
  newest,
];

/** By id, in the order in which they were first messages of. */
const known = signal<ReadonlyMap<string, RunRow>>(new Map());
/** Runs in the store; absent until the server has said anything. */
const total = signal<number | undefined>(undefined);
/** Ids, in the order in which they were chosen: the first method is what the others are compared with. */
const chosen = signal<readonly string[]>([]);
const trouble = signal("");

/** Whether the dashboard was opened at its start address and has not been left since: who clicks Runs later means runs. */
let isOpening = location.pathname === "/";

/** Where only traffic was stored, the start address leads to it. @returns whether that is not known yet. */
function useStart(): boolean {
  const { route } = useLocation();
  const [isAsking, setAsking] = useState(isOpening);
  const runs = total.value;
  useEffect(() => {
    if (!isOpening || runs === undefined) return;
    isOpening = false;
    const lead = async (): Promise<void> => {
      if (runs > 0) return;
      const { sessions } = await ask<SessionsBody>("/v1/sessions?limit=1");
      if (sessions.length > 0 && location.pathname === "/") route("/sessions", true);
    };
    void lead()
      .catch(() => {})
      .finally(() => setAsking(false));
  }, [runs]);
  return isAsking;
}

/** Changes that no frame has shown yet. */
let unseen: RunsChange[] = [];

/** Many that come together are drawn together. */
const messages = (change: RunsChange): void => {
  if (unseen.push(change) > 1) return;
  requestAnimationFrame(() => {
    const next = new Map(known.value);
    for (const { changed, gone } of unseen) {
      for (const run of changed) next.set(run.id, run);
      for (const id of gone) next.delete(id);
    }
    known.value = next;
    total.value = unseen.at(-1)?.total;
    unseen = [];
  });
};

/** Which runs are shown, and how: as the address has it. */
interface Wish {
  readonly find: string;
  readonly withArchived: boolean;
  readonly by: Column;
  readonly down: boolean;
}

function wishIn({ find = "", archived: put, by: name, order }: InAddress["query"]): Wish {
  const by = columns.find((column) => column.name === name) ?? newest;
  const down = order === undefined ? by.down === true : order === "down";
  return { find, withArchived: put === "true", by, down };
}

/** What Find looks in, made once for each row that the server sends: a key is answered faster than they are read. */
const texts = new WeakMap<RunRow, string>();

function textOf(run: RunRow): string {
  const made = texts.get(run);
  if (made !== undefined) return made;
  const { name, env, method, engine, state, seed, tags } = run;
  const text = `${name} ${env} ${method} ${engine} ${state} seed ${seed} ${tags.join(" ")}`.toLowerCase();
  texts.set(run, text);
  return text;
}

function sorted(runs: Iterable<RunRow>, { by, down }: Pick<Wish, "by" | "down">): readonly RunRow[] {
  const sign = down ? -1 : 1;
  return [...runs].sort((a, b) => {
    const [x, y] = [by.key(a), by.key(b)];
    return x < y ? -sign : x > y ? sign : 0;
  });
}

function fitting(runs: readonly RunRow[], { find, withArchived }: Wish): readonly RunRow[] {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter(
    (run) =>
      (withArchived || !run.tags.includes(archived)) && words.every((word) => textOf(run).includes(word)),
  );
}

const lastOf = (run: RunRow): number | undefined =>
  run.spark.findLast((value) => value !== null) ?? undefined;

/** As a file has them. */
const tableOf = (runs: readonly RunRow[]): (string | number | null)[][] => [
  [
    ...["run", "success in training", "held out", "held out, low", "held out, high", "state", "environment"],
    ...["method", "seed", "seconds", "started", "tags"],
  ],
  ...runs.map((run) => [
    ...[run.name, lastOf(run) ?? null],
    ...[run.success?.mean ?? null, run.success?.low ?? null, run.success?.high ?? null],
    ...[run.state, run.env, run.method, run.seed, run.seconds, run.started, run.tags.join(" ")],
  ]),
];

/** Shown at once; the server's next word stands. */
async function retag(run: RunRow, tags: readonly string[]): Promise<void> {
  known.value = new Map(known.value).set(run.id, { ...run, tags });
  trouble.value = "";
  await ask(`/api/runs/${encodeURIComponent(run.id)}/tags`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ tags }),
  }).catch((e: unknown) => {
    trouble.value = `The tags of ${run.name} could not be kept. ${messageOf(e)}`;
  });
}

export function Runs() {
  useEvents<RunsChange>("/api/runs/live", "runs", messages);
  const { query, choose } = useInAddress();
  const wish = wishIn(query);
  const inOrder = useMemo(() => sorted(known.value.values(), wish), [known.value, wish.by, wish.down]);
  const shown = useMemo(() => fitting(inOrder, wish), [inOrder, query]);
  const isAsking = useStart();
  if (total.value === undefined || (total.value === 0 && isAsking)) return <Waiting what="runs" />;
  if (total.value === 0) {
    return (
      <Empty>
        <h1>No runs yet</h1>
        <p>
          Begin one, and it shows here while it goes: <code>npx whetstone start</code>
        </p>
      </Empty>
    );
  }
  return (
    <>
      <h1>Runs</h1>
      <div class="tools">
        <label>
          Find{" "}
          <input
            type="search"
            value={wish.find}
            onInput={(e) => choose({ find: e.currentTarget.value })}
            placeholder="method, environment, tag…"
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={wish.withArchived}
            onChange={(e) => choose({ archived: e.currentTarget.checked ? "true" : undefined })}
          />{" "}
          Archived too
        </label>
        <span role="status" class="faint">
          {shown.length} of {total.value}
        </span>
      </div>
      {trouble.value && (
        <p class="bad" role="alert">
          {trouble.value}
        </p>
      )}
      <div class="wide">
        <table class="runs stacked" aria-rowcount={shown.length + 1}>
          <thead>
            <tr>
              <td />
              {columns.map((column) => (
                <Head key={column.name} column={column} wish={wish} choose={choose} />
              ))}
              <th scope="col">Tags</th>
            </tr>
          </thead>
          {Array.from({ length: Math.ceil(shown.length / part) }, (_, i) => (
            <Part key={i} runs={shown.slice(part * i, part * (i + 1))} from={part * i} />
          ))}
        </table>
      </div>
      <SaveTable label="Runs" file="runs" table={() => tableOf(shown)} />
      <Chosen />
    </>
  );
}

function Head({
  column,
  wish: { by, down },
  choose,
}: {
  readonly column: Column;
  readonly wish: Wish;
  readonly choose: InAddress["choose"];
}) {
  const { name } = column;
  const mine = by === column;
  const order = mine ? (down ? "up" : "down") : undefined;
  return (
    <th scope="col" aria-sort={mine ? (down ? "descending" : "ascending") : "none"}>
      <button type="button" class="quiet" onClick={() => choose({ by: name, order })}>
        {name}
        <span aria-hidden="true">{mine ? (down ? " ↓" : " ↑") : " ·"}</span>
      </button>
    </th>
  );
}

interface PartProps {
  readonly runs: readonly RunRow[];
  readonly from: number;
}

const samePart = (a: PartProps, b: PartProps): boolean =>
  a.from === b.from && a.runs.length === b.runs.length && a.runs.every((run, i) => run === b.runs[i]);

/** Some rows, or room for them. */
const Part = memo(({ runs, from }: PartProps) => {
  const place = useRef<HTMLTableSectionElement>(null);
  const near = useNear(place, from === 0);
  return (
    <tbody ref={place}>
      {near ? (
        runs.map((run, i) => <Row key={run.id} run={run} index={from + i} />)
      ) : (
        <tr class="away" style={{ "--rows": runs.length }}>
          <td colSpan={columns.length + 2} />
        </tr>
      )}
    </tbody>
  );
}, samePart);

const Row = memo(({ run, index }: { readonly run: RunRow; readonly index: number }) => {
  const last = lastOf(run);
  const label = last === undefined ? "no success measured" : `success now ${percent(last)}`;
  const isArchived = run.tags.includes(archived);
  return (
    // the row of heads is the first
    <tr aria-rowindex={index + 2}>
      <td>
        <input
          type="checkbox"
          aria-label={`Choose ${run.name}`}
          checked={chosen.value.includes(run.id)}
          onChange={(e) => {
            const others = chosen.value.filter((id) => id !== run.id);
            chosen.value = e.currentTarget.checked ? [...others, run.id] : others;
          }}
        />
      </td>
      <th scope="row">
        <a href={`/runs/${encodeURIComponent(run.id)}`}>{run.name}</a>
      </th>
      <td data-label="Success in training">
        <Sparkline values={run.spark} label={label} /> {last === undefined ? "–" : percent(last)}
      </td>
      <td data-label="Held out">
        {run.success
          ? `${percent(run.success.mean)} [${(100 * run.success.low).toFixed(0)}, ${(100 * run.success.high).toFixed(0)}]`
          : "–"}
      </td>
      <td data-label="State">
        <span class={`state ${run.state}`}>{run.state}</span>
        {run.error !== undefined && (
          <span class="why" title={run.error}>
            {run.error}
          </span>
        )}
      </td>
      <td data-label="Environment">{run.env}</td>
      <td data-label="Method">{run.method}</td>
      <td data-label="Seed">{run.seed}</td>
      <td data-label="Time">{duration(run.seconds)}</td>
      <td data-label="Started">{moment(run.started)}</td>
      <td data-label="Tags">
        {run.tags
          .filter((tag) => tag !== archived)
          .map((tag) => (
            <button
              key={tag}
              type="button"
              class="tag"
              aria-label={`Remove the tag ${tag} of ${run.name}`}
              onClick={() =>
                retag(
                  run,
                  run.tags.filter((t) => t !== tag),
                )
              }
            >
              <bdi>{tag}</bdi> ×
            </button>
          ))}
        <input
          class="new-tag"
          aria-label={`New tag for ${run.name}`}
          placeholder="+ tag"
          maxLength={60}
          onKeyDown={(e) => {
            const tag = e.currentTarget.value.trim();
            if (e.key !== "Enter" || tag === "") return;
            e.currentTarget.value = "";
            void retag(run, [...new Set([...run.tags, tag])]);
          }}
        />
        <button
          type="button"
          class="quiet"
          aria-label={`${isArchived ? "Bring back" : "Archive"} ${run.name}`}
          onClick={() =>
            retag(run, isArchived ? run.tags.filter((t) => t !== archived) : [...run.tags, archived])
          }
        >
          {isArchived ? "Bring back" : "Archive"}
        </button>
      </td>
    </tr>
  );
});

/** The way from here to the comparison of what was chosen; its room is kept, so that nothing moves. */
function Chosen() {
  const there = chosen.value.length;
  const to = `/compare?${new URLSearchParams(chosen.value.map((id) => ["run", id]))}`;
  return (
    <p class="chosen-runs">
      {there < 2 ? (
        <span class="faint">Choose two runs or more to compare them.</span>
      ) : (
        <a href={to}>Compare {there} runs</a>
      )}
    </p>
  );
}
