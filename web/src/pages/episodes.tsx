/** The episodes of a run that were kept, found by what they are about; those of one task side by side. */
import { useEffect } from "preact/hooks";
import { useRoute } from "preact-iso";
import type {
  EpisodeGroup,
  EpisodeGroupsPage,
  EpisodeRow,
  EpisodesPage,
} from "../../../src/serve/dashboard/types.ts";
import { useLoaded } from "../api.ts";
import { type InAddress, useInAddress } from "../parts/inAddress.ts";
import { Empty, Failed, Waiting } from "../parts/notice.tsx";
import { Pager } from "../parts/pager.tsx";
import { Outcome, Reward } from "../parts/reward.tsx";
import { SaveTable, Table } from "../parts/table.tsx";

const outcomes = ["success", "no success", "truncated", "failed", "done"];
const phases = ["train", "before", "during", "after"];
const orders: readonly (readonly [order: string, name: string])[] = [
  ["newest", "Newest"],
  ["best", "Highest reward"],
  ["worst", "Lowest reward"],
  ["longest", "Most turns"],
];
/** What a search can say. */
const searched = ["text", "outcome", "order", "offset", "least", "most", "from", "until", "phase", "task"];
/** Filters that are folded while they choose nothing. */
const folded = ["least", "most", "from", "until", "phase", "task"];
/** Rows and groups of one page. */
const [perPage, groupsPerPage] = [50, 20];

export function Episodes() {
  const { params } = useRoute();
  const address = useInAddress();
  const run = params.id ?? "";
  const { view } = address.query;
  // while the next page loads, the address is already that page's
  const search = Object.fromEntries(
    searched.flatMap((name) => (address.query[name] === undefined ? [] : [[name, address.query[name]]])),
  );
  useEffect(() => {
    document.title = `Episodes of ${nameOf(run)} · Whetstone`;
  }, [run]);
  return (
    <>
      <p class="crumbs">
        <a href={`/runs/${encodeURIComponent(run)}`}>{nameOf(run)}</a>
      </p>
      <h1>Episodes</h1>
      <Search address={address} />
      {view === "list" ? (
        <List run={run} search={search} address={address} />
      ) : (
        <Groups run={run} search={search} address={address} />
      )}
    </>
  );
}

function Search({ address: { query, choose } }: { readonly address: InAddress }) {
  // of another search the first page
  const field = (name: string, usual = "") => ({
    value: query[name] ?? usual,
    onChange: (e: Event) =>
      choose({ offset: undefined, [name]: (e.currentTarget as HTMLInputElement).value }),
  });
  return (
    <form class="tools filters" onSubmit={(e) => e.preventDefault()}>
      <label>
        Task or transcript <input type="search" placeholder="words in it" {...field("text")} />
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
        View{" "}
        <select {...field("view")}>
          <option value="">By task</option>
          <option value="list">One by one</option>
        </select>
      </label>
      <details open={folded.some((name) => query[name] !== undefined)}>
        <summary>More filters</summary>
        <div class="tools filters">
          <label>
            Reward from <input type="number" step="any" class="short" {...field("least")} />
          </label>
          <label>
            Reward to <input type="number" step="any" class="short" {...field("most")} />
          </label>
          <label>
            Iterations from <input type="number" min="0" class="short" {...field("from")} />
          </label>
          <label>
            Iterations before <input type="number" min="0" class="short" {...field("until")} />
          </label>
          <label>
            Phase{" "}
            <select {...field("phase")}>
              <option value="">any</option>
              {phases.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label>
            Task's id <input type="search" {...field("task")} />
          </label>
        </div>
      </details>
    </form>
  );
}

interface FoundProps {
  readonly run: string;
  readonly search: Readonly<Record<string, string>>;
  readonly address: InAddress;
}

const asking = (run: string, what: string, search: FoundProps["search"], limit: number): string =>
  `/api/runs/${encodeURIComponent(run)}/${what}?${new URLSearchParams({ ...search, limit: String(limit) })}`;

const Nothing = () => <Empty>No episode that was kept fits.</Empty>;

function Groups({ run, search, address }: FoundProps) {
  const now = useLoaded<EpisodeGroupsPage>(asking(run, "groups", search, groupsPerPage)).value;
  if (now.state === "waiting") return <Waiting what="episodes" />;
  if (now.state === "failed") return <Failed what="Episodes" why={now.why} />;
  const { groups, total, offset } = now.data;
  if (total === 0) return <Nothing />;
  return (
    <>
      {groups.map((group) => (
        <Group
          key={`${group.phase} ${group.iteration} ${group.task} ${group.role}`}
          group={group}
          run={run}
        />
      ))}
      <SaveTable
        label="Episodes by task"
        file={`episodes by task of ${nameOf(run)}`}
        table={() => tableOf(groups)}
      />
      <Pager
        what="tasks"
        offset={offset}
        shown={groups.length}
        total={total}
        perPage={groupsPerPage}
        address={address}
      />
    </>
  );
}

/** As a file has them: an episode a row, beside what its task says of all of them. */
const tableOf = (groups: readonly EpisodeGroup[]): (string | number | null)[][] => [
  [
    "task",
    "asked",
    "iteration",
    "phase",
    "role",
    "part in turn",
    "episode",
    "reward",
    "outcome",
    "turns",
    "did",
  ],
  ...groups.flatMap(({ task, asked, iteration, phase, role, parts, episodes }) =>
    episodes.map(({ id, reward, outcome, turns, did }) => [
      ...[task, asked, iteration, phase, role, parts === undefined ? null : parts + 1],
      ...[id, reward, outcome, turns, did],
    ]),
  ),
];

/** Where the episodes of a task part, in words. */
function partingWords({ episodes, parts }: EpisodeGroup): string {
  if (episodes.length === 1) return "";
  return parts === undefined ? " · all did the same" : ` · they part in turn ${parts + 1}`;
}

function Group({ group, run }: { readonly group: EpisodeGroup; readonly run: string }) {
  const { asked, task, iteration, phase, role, episodes } = group;
  const judged = episodes.filter(({ outcome }) => outcome !== "done");
  const good = judged.filter(({ outcome }) => outcome === "success").length;
  const words = [
    task,
    `iteration ${iteration}, ${phase}`,
    ...(role === "agent" ? [] : [role]),
    ...(judged.length > 0 ? [`${good} of ${judged.length} succeeded`] : []),
  ];
  return (
    <section class="card group" aria-label={`Episodes of ${task}, iteration ${iteration}`}>
      <h2>
        <bdi>{asked || task}</bdi>
      </h2>
      <p class="faint">
        {words.join(" · ")}
        {partingWords(group)}
      </p>
      <ul class="siblings">
        {episodes.map((one) => (
          <li key={one.id}>
            <Reward of={one.reward} />
            <Outcome of={one.outcome} />
            <a class="act" href={episodePath(run, one)}>
              <bdi>{one.did || one.id}</bdi>
            </a>
            <span class="faint">
              {one.turns} {one.turns === 1 ? "turn" : "turns"}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function List({ run, search, address }: FoundProps) {
  const now = useLoaded<EpisodesPage>(asking(run, "episodes", search, perPage)).value;
  if (now.state === "waiting") return <Waiting what="episodes" />;
  if (now.state === "failed") return <Failed what="Episodes" why={now.why} />;
  const { episodes, total, offset } = now.data;
  if (total === 0) return <Nothing />;
  return (
    <>
      <Table
        label="Episodes"
        file={`episodes of ${nameOf(run)}`}
        rows={episodes}
        keyOf={(row) => `${row.phase} ${row.iteration} ${row.id}`}
        columns={[
          {
            name: "Task",
            class: "about",
            cell: (row) => (
              <a href={episodePath(run, row)}>
                <bdi>{row.asked || row.task}</bdi>
              </a>
            ),
            value: (row) => row.asked,
          },
          { name: "Did last", class: "about", cell: ({ did }) => <bdi>{did}</bdi>, value: ({ did }) => did },
          {
            name: "Outcome",
            cell: ({ outcome }) => <Outcome of={outcome} />,
            value: ({ outcome }) => outcome,
          },
          { name: "Reward", cell: ({ reward }) => <Reward of={reward} />, value: ({ reward }) => reward },
          { name: "Turns", cell: ({ turns }) => turns },
          { name: "Iteration", cell: ({ iteration }) => iteration },
          { name: "Phase", cell: ({ phase }) => phase },
          { name: "Episode", class: "about faint", cell: ({ id }) => id },
        ]}
      />
      <Pager
        what="episodes"
        offset={offset}
        shown={episodes.length}
        total={total}
        perPage={perPage}
        address={address}
      />
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
