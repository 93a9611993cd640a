/** Runs beside each other: learning curves with intervals over seeds, and differences paired by seed. */
import { useEffect, useRef } from "preact/hooks";
import { useRoute } from "preact-iso";
import type {
  ComparedGroup,
  ComparePage,
  ComparisonsPage,
  LeaguesPage,
  Range,
} from "../../../src/serve/dashboard/types.ts";
import { useLoaded } from "../api.ts";
import { Curves } from "../parts/curves.tsx";
import { drawnAlone } from "../parts/drawn.ts";
import { Failed, Waiting } from "../parts/notice.tsx";
import { SaveDrawing } from "../parts/saveChart.tsx";
import { Table } from "../parts/table.tsx";
import { groupKey, groupName, moment } from "../parts/words.ts";

export function Compare() {
  useRoute();
  const asked = new URLSearchParams(location.search).getAll("run");
  const loaded = useLoaded<ComparePage>(
    `/api/compare?${new URLSearchParams(asked.map((id) => ["run", id]))}`,
  );
  useEffect(() => {
    document.title = "Compare · Whetstone";
  }, []);
  if (asked.length === 0) return <Kept />;
  const now = loaded.value;
  if (now.state === "waiting") return <Waiting what="the comparison" />;
  if (now.state === "failed") return <Failed what="The comparison" why={now.why} />;
  return <Whole groups={now.data.groups} />;
}

/** Without runs to compare: what the command line compared, and how to compare more. */
function Kept() {
  const now = useLoaded<ComparisonsPage>("/api/comparisons").value;
  if (now.state === "waiting") return <Waiting what="comparisons" />;
  if (now.state === "failed") return <Failed what="Comparisons" why={now.why} />;
  const { comparisons } = now.data;
  return (
    <>
      <h1>Compare</h1>
      <p class="faint lead">
        Choose <a href="/">runs</a>, and compare them here: curves with intervals over seeds, differences
        paired by seed. Or run them side by side:{" "}
        <code>npx whetstone compare grpo rloo --env bandit --engine tabular</code>
      </p>
      {comparisons.length > 0 && (
        <>
          <h2>Made by whetstone compare</h2>
          <Table
            label="Comparisons"
            file="comparisons"
            rows={comparisons}
            keyOf={({ id }) => id}
            columns={[
              {
                name: "Methods",
                class: "about",
                cell: ({ id, methods }) => (
                  <a href={`/comparisons/${encodeURIComponent(id)}`}>{methods.join(", ")}</a>
                ),
                value: ({ methods }) => methods.join(", "),
              },
              { name: "Environment", cell: ({ env }) => env },
              { name: "Engine", cell: ({ engine }) => engine },
              { name: "Seeds", cell: ({ seeds }) => seeds },
              { name: "Written", cell: ({ at }) => moment(new Date(at).toISOString()) },
              { name: "Folder", class: "about faint", cell: ({ id }) => id },
            ]}
          />
        </>
      )}
      <Leagues />
    </>
  );
}

function Leagues() {
  const now = useLoaded<LeaguesPage>("/api/leagues").value;
  if (now.state === "waiting") return <Waiting what="leagues" />;
  if (now.state === "failed") return <Failed what="Leagues" why={now.why} />;
  const { leagues } = now.data;
  if (leagues.length === 0) return null;
  return (
    <>
      <h2>Played by whetstone league</h2>
      <Table
        label="Leagues"
        file="leagues"
        rows={leagues}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "League",
            class: "about",
            cell: ({ id, environment }) => (
              <a href={`/compare/leagues/${encodeURIComponent(id)}`}>{environment}</a>
            ),
            value: ({ environment }) => environment,
          },
          { name: "Members", cell: ({ members }) => members },
          { name: "Games a pair", cell: ({ gamesPerPair }) => gamesPerPair },
          { name: "Written", cell: ({ at }) => moment(new Date(at).toISOString()) },
          { name: "File", class: "about faint", cell: ({ id }) => id },
        ]}
      />
    </>
  );
}

function Whole({ groups }: { readonly groups: readonly ComparedGroup[] }) {
  const drawing = useRef<SVGSVGElement>(null);
  const title = `Success in training: ${groups.map((g) => `${groupName(g, groups)} on ${g.env}`).join(", ")}`;
  return (
    <>
      <h1>Compare</h1>
      <figure class="comparison">
        <figcaption>
          Success in training, mean over runs; shaded: 95 % t interval over seeds, where there are two or more
        </figcaption>
        <Curves groups={groups} title={title} drawing={drawing} />
        <SaveDrawing
          title="comparison"
          drawing={() => drawnAlone(drawing.current!, "Success in training")}
          numbers={() => rowsOf(groups)}
        />
      </figure>
      <h2>Held out, at the end</h2>
      <Table
        label="Held out, at the end"
        file="comparison held out"
        rows={groups}
        keyOf={groupKey}
        columns={[
          {
            name: "Method",
            cell: (g) => <a href={`/methods/${g.method}`}>{groupName(g, groups)}</a>,
            value: (g) => groupName(g, groups),
          },
          { name: "Environment", cell: (g) => g.env },
          {
            name: "Runs",
            cell: (g) =>
              g.runs.map((run) => (
                <a key={run.id} class="run" href={`/runs/${encodeURIComponent(run.id)}`}>
                  {run.seed}
                </a>
              )),
            value: (g) => g.runs.length,
          },
          { name: "Success %", cell: (g) => (g.heldOut ? ranged(g.heldOut) : "not evaluated") },
          { name: "Difference, points", cell: (g) => (g.against ? ranged(g.against.difference, true) : "–") },
          { name: "P(better)", cell: (g) => (g.against ? g.against.improvement.toFixed(2) : "–") },
          { name: "On seeds", cell: (g) => (g.against ? g.against.seeds.join(", ") : "–") },
        ]}
      />
      <p class="faint">
        Differences are against the first row of the same environment, paired by seed, with 95 % t intervals.
        P(better) is the probability that a run of the row beats a run of the first; ties count half.
      </p>
    </>
  );
}

function ranged({ mean, low, high }: Range, sign = false): string {
  const said = (share: number): string => `${sign && share > 0 ? "+" : ""}${(100 * share).toFixed(1)}`;
  if (mean === null) return "–";
  return low === null || high === null
    ? `${said(mean)} (one run)`
    : `${said(mean)} [${said(Math.max(sign ? -1 : 0, low))}, ${said(Math.min(1, high))}]`;
}

function rowsOf(groups: readonly ComparedGroup[]): (string | number | null)[][] {
  const head = [
    "environment",
    "method",
    "engine",
    "staleness",
    "runs",
    "iteration",
    "success",
    "low",
    "high",
  ];
  const rows = groups.flatMap((g) =>
    g.iteration.map((at, i) => [
      g.env,
      g.method,
      g.engine,
      g.staleness,
      g.runs.length,
      at,
      g.mean[i] ?? null,
      g.low[i] ?? null,
      g.high[i] ?? null,
    ]),
  );
  return [head, ...rows];
}
