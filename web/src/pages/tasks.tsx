/** What a run trained on: how many tasks stood where over time, and each task with its success. */
import { useEffect } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { Standing } from "../../../src/diagnose/tasks.ts";
import type { TaskRow, TasksPage } from "../../../src/serve/dashboard/types.ts";
import { useLoaded } from "../api.ts";
import { Chart } from "../parts/chart.tsx";
import { useInAddress } from "../parts/inAddress.ts";
import { Empty, Failed, Waiting } from "../parts/notice.tsx";
import { Pager } from "../parts/pager.tsx";
import { Strip } from "../parts/strip.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { digits, percent, points, shareRange } from "../parts/words.ts";

const perPage = 50;

const words: Readonly<Record<Standing, string>> = {
  frontier: "at the frontier",
  unsolved: "unsolved",
  solved: "solved",
  new: "new",
  unrated: "without a verdict",
};
const orders = {
  hardest: "Hardest first",
  progress: "Most progress first",
  latest: "Last trained on first",
  most: "Most episodes first",
} as const;

/** @param alike words that several of the tasks shown have: these show their ids too. */
const columnsOf = (run: string, alike: ReadonlySet<string>): readonly Column<TaskRow>[] => [
  {
    name: "Task",
    class: "about",
    cell: ({ task, role, asked }) => (
      <a href={`/runs/${encodeURIComponent(run)}/episodes?${new URLSearchParams({ task, phase: "train" })}`}>
        <bdi>{asked || task}</bdi>
        {alike.has(asked) && (
          <span class="faint">
            {" "}
            <bdi>{task}</bdi>
          </span>
        )}
        {role !== "agent" && ` (${role})`}
      </a>
    ),
    value: ({ task }) => task,
  },
  { name: "Stands", cell: ({ standing }) => words[standing], value: ({ standing }) => standing },
  {
    name: "Success lately",
    cell: ({ recent }) => (recent.mean === null ? "–" : `${percent(recent.mean)} ${shareRange(recent)}`),
    value: ({ recent }) => recent.mean,
  },
  { name: "Over the run", cell: ({ shares }) => <Strip shares={shares} />, value: () => null },
  {
    name: "Change",
    cell: ({ change }) => (change === null ? "–" : points(change)),
    value: ({ change }) => change,
  },
  {
    name: "Reward",
    cell: ({ reward }) => (reward === null ? "–" : digits(reward)),
    value: ({ reward }) => reward,
  },
  { name: "Episodes", cell: ({ episodes }) => episodes },
  {
    name: "Dead groups",
    cell: ({ dead, groups }) => `${dead} of ${groups}`,
    value: ({ dead, groups }) => dead / groups,
  },
  { name: "Last", cell: ({ last }) => last },
];

export function Tasks() {
  const { params } = useRoute();
  const address = useInAddress();
  const { query, choose } = address;
  const { order = "hardest", standing = "" } = query;
  const offset = /^\d+$/.test(query.offset ?? "") ? Number(query.offset) : 0;
  const asked = { order, offset: String(offset), limit: String(perPage), ...(standing && { standing }) };
  const id = params.id ?? "";
  const now = useLoaded<TasksPage>(
    `/api/runs/${encodeURIComponent(id)}/tasks?${new URLSearchParams(asked)}`,
  ).value;
  if (now.state === "waiting") return <Waiting what="the tasks" />;
  if (now.state === "failed") return <Failed what="The tasks" why={now.why} />;
  const { data } = now;
  const alike = new Set(
    [...Map.groupBy(data.tasks, ({ asked }) => asked)].flatMap(([words, its]) =>
      words !== "" && its.length > 1 ? [words] : [],
    ),
  );
  return (
    <>
      <Head of={data} />
      {data.total === 0 ? (
        <Empty>
          Nothing is on record: the run has not trained yet, learns from recorded feedback, or was recorded by
          an earlier version.
        </Empty>
      ) : (
        <>
          <Moving of={data} />
          <form class="tools" onSubmit={(e) => e.preventDefault()}>
            <label>
              Order{" "}
              <select
                value={order}
                onChange={(e) => choose({ order: e.currentTarget.value, offset: undefined })}
              >
                {Object.entries(orders).map(([key, said]) => (
                  <option key={key} value={key}>
                    {said}
                  </option>
                ))}
              </select>
            </label>
            <label>
              Stands{" "}
              <select
                value={standing}
                onChange={(e) => choose({ standing: e.currentTarget.value || undefined, offset: undefined })}
              >
                <option value="">anywhere</option>
                {Object.entries(words).map(([key, said]) => (
                  <option key={key} value={key}>
                    {said}
                  </option>
                ))}
              </select>
            </label>
            <span role="status" class="faint">
              {data.fitting} of {data.total} tasks
            </span>
          </form>
          <Table
            label="Tasks"
            file={`${data.run.name} tasks`}
            rows={data.tasks}
            keyOf={({ task, role }) => `${task} ${role}`}
            columns={columnsOf(data.run.id, alike)}
          />
          <Pager
            what="tasks"
            offset={offset}
            shown={data.tasks.length}
            total={data.fitting}
            perPage={perPage}
            address={address}
          />
          <p class="faint">
            A task stands by its success in its last sixteen episodes or more: unsolved up to a tenth, solved
            from nine tenths on, new below four episodes. A group whose episodes all get the same reward is
            dead: it teaches nothing.
          </p>
        </>
      )}
    </>
  );
}

function Head({ of: { run } }: { readonly of: TasksPage }) {
  useEffect(() => {
    document.title = `Tasks of ${run.name} · Whetstone`;
  }, [run.name]);
  return (
    <>
      <p class="crumbs">
        <a href="/">Runs</a> / <a href={`/runs/${encodeURIComponent(run.id)}`}>{run.name}</a>
      </p>
      <h1>Tasks</h1>
    </>
  );
}

/** How many tasks stood where, and the share of groups that taught nothing. */
function Moving({ of: { frontier } }: { readonly of: TasksPage }) {
  const x = frontier.map(({ iteration }) => iteration);
  const shown = (["unsolved", "frontier", "solved", "unrated"] as const).filter((name) =>
    frontier.some((at) => at[name] > 0),
  );
  return (
    <div class="charts">
      <Chart
        title="Where tasks stand"
        unit="tasks"
        x={x}
        lines={shown.map((name) => ({ name: words[name], values: frontier.map((at) => at[name]) }))}
      />
      <Chart
        title="Dead groups"
        unit="share"
        x={x}
        lines={[{ name: "dead", values: frontier.map(({ dead }) => dead) }]}
        words={percent}
      />
    </div>
  );
}
