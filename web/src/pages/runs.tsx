/** All runs, the last started first, as they go on. */
import { computed, signal } from "@preact/signals";
import type { RunRow, RunsPage } from "../../../src/serve/dashboard/types.ts";
import { type Loaded, useEvents } from "../api.ts";
import { Empty, Failed, Waiting } from "../parts/notice.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { duration, moment, percent } from "../parts/words.ts";

const page = signal<Loaded<RunsPage>>({ state: "waiting" });
const query = signal("");
const heard = (data: RunsPage): void => {
  page.value = { state: "ready", data };
};

const shown = computed<readonly RunRow[]>(() => {
  if (page.value.state !== "ready") return [];
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  return page.value.data.runs.filter((run) => {
    const text =
      `${run.name} ${run.env} ${run.method} ${run.engine} ${run.state} seed ${run.seed}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
});

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
      <label class="find">
        Find
        <input
          type="search"
          value={query.value}
          onInput={(e) => {
            query.value = e.currentTarget.value;
          }}
          placeholder="method, environment, state…"
        />
      </label>
      <div class="wide">
        <table>
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">Success in practice</th>
              <th scope="col">Held out</th>
              <th scope="col">State</th>
              <th scope="col">Environment</th>
              <th scope="col">Method</th>
              <th scope="col">Seed</th>
              <th scope="col">Time</th>
              <th scope="col">Started</th>
            </tr>
          </thead>
          <tbody>
            {shown.value.map((run) => (
              <Row key={run.id} run={run} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Row({ run }: { readonly run: RunRow }) {
  const last = run.spark.findLast((value) => value !== null);
  const label = last == null ? "no success measured" : `success now ${percent(last)}`;
  return (
    <tr>
      <th scope="row">
        <a href={`/runs/${encodeURIComponent(run.id)}`}>{run.name}</a>
      </th>
      <td>
        <Sparkline values={run.spark} label={label} />{" "}
        {last != null && <span class="number">{percent(last)}</span>}
      </td>
      <td class="number">
        {run.success
          ? `${percent(run.success.mean)} [${(100 * run.success.low).toFixed(0)}, ${(100 * run.success.high).toFixed(0)}]`
          : "–"}
      </td>
      <td>
        <span class={`state ${run.state}`}>{run.state}</span>
      </td>
      <td>{run.env}</td>
      <td>{run.method}</td>
      <td class="number">{run.seed}</td>
      <td class="number">{duration(run.seconds)}</td>
      <td>{moment(run.started)}</td>
    </tr>
  );
}
