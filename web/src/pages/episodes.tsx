/** The episodes of a run that were kept, to look through. */
import { useRoute } from "preact-iso";
import type { EpisodeRow, EpisodesPage } from "../../../src/serve/dashboard/types.ts";
import { useLoaded } from "../api.ts";
import { useInAddress } from "../parts/inAddress.ts";
import { Empty, Failed, Waiting } from "../parts/notice.tsx";
import { Table } from "../parts/table.tsx";
import { digits } from "../parts/words.ts";

const outcomes = ["success", "no success", "truncated", "failed", "done"];
const orders: readonly (readonly [order: string, name: string])[] = [
  ["newest", "Newest"],
  ["best", "Highest reward"],
  ["worst", "Lowest reward"],
  ["longest", "Most turns"],
];
const perPage = 50;

export function Episodes() {
  const { params } = useRoute();
  const { query, choose } = useInAddress();
  const run = params.id ?? "";
  const asked = new URLSearchParams({ ...query, limit: String(perPage) });
  const loaded = useLoaded<EpisodesPage>(`/api/runs/${encodeURIComponent(run)}/episodes?${asked}`);
  // of another search the first page
  const change = (name: string, value: string): void => choose({ offset: undefined, [name]: value });
  const field = (name: string, usual = "") => ({
    value: asked.get(name) ?? usual,
    onChange: (e: Event) => change(name, (e.currentTarget as HTMLInputElement).value),
  });
  const { value: now } = loaded;
  return (
    <>
      <p class="crumbs">
        <a href={`/runs/${encodeURIComponent(run)}`}>{nameOf(run)}</a>
      </p>
      <h1>Episodes</h1>
      <form class="tools" onSubmit={(e) => e.preventDefault()}>
        <label>
          Text <input type="search" {...field("text")} />
        </label>
        <label>
          Outcome{" "}
          <select {...field("outcome")}>
            <option value="">any</option>
            {outcomes.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Order{" "}
          <select {...field("order", "newest")}>
            {orders.map(([order, name]) => (
              <option key={order} value={order}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Iterations from <input type="number" min="0" class="short" {...field("from")} />
        </label>
        <label>
          to before <input type="number" min="0" class="short" {...field("until")} />
        </label>
      </form>
      {now.state === "waiting" && <Waiting what="episodes" />}
      {now.state === "failed" && <Failed what="Episodes" why={now.why} />}
      {now.state === "ready" && <List page={now.data} run={run} change={change} />}
    </>
  );
}

function List(props: {
  readonly page: EpisodesPage;
  readonly run: string;
  readonly change: (name: string, value: string) => void;
}) {
  const { page, run, change } = props;
  if (page.total === 0) return <Empty>No episode that was kept fits.</Empty>;
  const last = page.offset + page.episodes.length;
  return (
    <>
      <Table
        label="Episodes"
        file={`episodes of ${nameOf(run)}`}
        rows={page.episodes}
        keyOf={(row) => `${row.phase} ${row.iteration} ${row.id}`}
        columns={[
          {
            name: "Episode",
            cell: (row) => <a href={episodePath(run, row)}>{row.id}</a>,
            value: (row) => row.id,
          },
          {
            name: "Outcome",
            cell: ({ outcome }) => (
              <span class={`state ${outcome === "success" ? "running" : outcome}`}>{outcome}</span>
            ),
            value: ({ outcome }) => outcome,
          },
          { name: "Reward", cell: ({ reward }) => (reward === null ? "–" : digits(reward)) },
          { name: "Turns", cell: ({ turns }) => turns },
          { name: "Iteration", cell: ({ iteration }) => iteration },
          { name: "Phase", cell: ({ phase }) => phase },
        ]}
      />
      <p class="tools">
        <button
          type="button"
          disabled={page.offset === 0}
          onClick={() => change("offset", String(Math.max(0, page.offset - perPage)))}
        >
          Before
        </button>
        <span role="status">
          {page.offset + 1} to {last} of {page.total}
        </span>
        <button type="button" disabled={last >= page.total} onClick={() => change("offset", String(last))}>
          Next
        </button>
      </p>
    </>
  );
}

export const nameOf = (run: string): string => run.split("/").at(-1) ?? run;

export function episodePath(
  run: string,
  { id, phase, iteration }: Pick<EpisodeRow, "id" | "phase" | "iteration">,
): string {
  return `/runs/${encodeURIComponent(run)}/episode?${new URLSearchParams({ id, phase, iteration: String(iteration) })}`;
}
