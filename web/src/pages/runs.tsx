/** All runs, the last started first, as they go on: to find, sort, tag, put away and compare. */
import { computed, signal } from "@preact/signals";
import type { RunRow, RunsPage } from "../../../src/serve/dashboard/types.ts";
import { ask, type Loaded, messageOf, useEvents } from "../api.ts";
import { Empty, Failed, Waiting } from "../parts/notice.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { duration, moment, percent } from "../parts/words.ts";

const archived = "archived";

interface Column {
  readonly name: string;
  /** What it is sorted by; the largest first where `down`. */
  readonly key: (run: RunRow) => string | number;
  readonly down?: boolean;
}

const columns: readonly Column[] = [
  { name: "Run", key: (run) => run.name },
  { name: "Success in practice", key: (run) => lastOf(run) ?? -1, down: true },
  { name: "Held out", key: (run) => run.success?.mean ?? -1, down: true },
  { name: "State", key: (run) => run.state },
  { name: "Environment", key: (run) => run.env },
  { name: "Method", key: (run) => run.method },
  { name: "Seed", key: (run) => run.seed },
  { name: "Time", key: (run) => run.seconds, down: true },
  { name: "Started", key: (run) => run.started, down: true },
];

const page = signal<Loaded<RunsPage>>({ state: "waiting" });
const query = signal("");
const withArchived = signal(false);
const sorted = signal<{ readonly by: string; readonly down: boolean }>({ by: "Started", down: true });
/** Ids, in the order in which they were chosen: the first method is what the others are compared with. */
const chosen = signal<readonly string[]>([]);
const trouble = signal("");

const heard = (data: RunsPage): void => {
  page.value = { state: "ready", data };
};

const shown = computed<readonly RunRow[]>(() => {
  if (page.value.state !== "ready") return [];
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = page.value.data.runs.filter((run) => {
    if (run.tags.includes(archived) && !withArchived.value) return false;
    const { name, env, method, engine, state, seed, tags } = run;
    const text = `${name} ${env} ${method} ${engine} ${state} seed ${seed} ${tags.join(" ")}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const { by, down } = sorted.value;
  const key = columns.find(({ name }) => name === by)?.key ?? ((run: RunRow) => run.started);
  const sign = down ? -1 : 1;
  return fitting.sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    return x < y ? -sign : x > y ? sign : 0;
  });
});

const lastOf = (run: RunRow): number | undefined =>
  run.spark.findLast((value) => value !== null) ?? undefined;

/** Shown at once; the server's next word stands. */
async function retag(run: RunRow, tags: readonly string[]): Promise<void> {
  if (page.value.state === "ready") {
    const runs = page.value.data.runs.map((r) => (r.id === run.id ? { ...r, tags } : r));
    page.value = { state: "ready", data: { runs } };
  }
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
  useEvents<RunsPage>("/api/runs/live", "runs", heard);
  if (page.value.state === "waiting") return <Waiting what="runs" />;
  if (page.value.state === "failed") return <Failed what="Runs" why={page.value.why} />;
  if (page.value.data.runs.length === 0) {
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
            value={query.value}
            onInput={(e) => {
              query.value = e.currentTarget.value;
            }}
            placeholder="method, environment, tag…"
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={withArchived.value}
            onChange={(e) => {
              withArchived.value = e.currentTarget.checked;
            }}
          />{" "}
          Archived too
        </label>
        <span role="status" class="faint">
          {shown.value.length} of {page.value.data.runs.length}
        </span>
      </div>
      {trouble.value && (
        <p class="bad" role="alert">
          {trouble.value}
        </p>
      )}
      <div class="wide">
        <table class="runs">
          <thead>
            <tr>
              <td />
              {columns.map((column) => (
                <Head key={column.name} column={column} />
              ))}
              <th scope="col">Tags</th>
            </tr>
          </thead>
          <tbody>
            {shown.value.map((run) => (
              <Row key={run.id} run={run} />
            ))}
          </tbody>
        </table>
      </div>
      <Chosen />
    </>
  );
}

function Head({ column: { name, down = false } }: { readonly column: Column }) {
  const mine = sorted.value.by === name;
  return (
    <th scope="col" aria-sort={mine ? (sorted.value.down ? "descending" : "ascending") : "none"}>
      <button
        type="button"
        class="quiet"
        onClick={() => {
          sorted.value = { by: name, down: mine ? !sorted.value.down : down };
        }}
      >
        {name}
        <span aria-hidden="true">{mine ? (sorted.value.down ? " ↓" : " ↑") : " ·"}</span>
      </button>
    </th>
  );
}

function Row({ run }: { readonly run: RunRow }) {
  const last = lastOf(run);
  const label = last === undefined ? "no success measured" : `success now ${percent(last)}`;
  const isArchived = run.tags.includes(archived);
  return (
    <tr>
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
      <td>
        <Sparkline values={run.spark} label={label} /> {last !== undefined && percent(last)}
      </td>
      <td>
        {run.success
          ? `${percent(run.success.mean)} [${(100 * run.success.low).toFixed(0)}, ${(100 * run.success.high).toFixed(0)}]`
          : "–"}
      </td>
      <td>
        <span class={`state ${run.state}`}>{run.state}</span>
      </td>
      <td>{run.env}</td>
      <td>{run.method}</td>
      <td>{run.seed}</td>
      <td>{duration(run.seconds)}</td>
      <td>{moment(run.started)}</td>
      <td>
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
}

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
