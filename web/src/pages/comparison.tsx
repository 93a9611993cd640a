/** A comparison that the command line made: methods beside each other, with intervals over seeds. */
import { useEffect } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { ComparedMethodRow, ComparisonDetail } from "../../../src/serve/dashboard/types.ts";
import { useLoaded } from "../api.ts";
import { IntervalBar } from "../parts/intervalBar.tsx";
import { Failed, Waiting } from "../parts/notice.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { Table } from "../parts/table.tsx";
import { duration, moment, percent, points, shareRange } from "../parts/words.ts";

export function Comparison() {
  const { params } = useRoute();
  const now = useLoaded<ComparisonDetail>(`/api/comparisons/${encodeURIComponent(params.id ?? "")}`).value;
  if (now.state === "waiting") return <Waiting what="the comparison" />;
  if (now.state === "failed") return <Failed what="The comparison" why={now.why} />;
  return <Whole of={now.data} />;
}

function Whole({ of: c }: { readonly of: ComparisonDetail }) {
  useEffect(() => {
    document.title = `${c.methods.join(", ")} on ${c.env} · Whetstone`;
  }, [c]);
  return (
    <>
      <p class="crumbs">
        <a href="/compare">Compare</a>
      </p>
      <h1>
        {c.methods.join(", ")} on {c.env}
      </h1>
      <p class="facts">
        {c.model !== undefined && `${c.model} · `}
        {c.engine} engine · {c.seeds} {c.seeds === 1 ? "seed" : "seeds"} · {c.budget} · {c.tuned} ·{" "}
        {moment(new Date(c.at).toISOString())} · {c.id}
      </p>
      {c.warnings.length > 0 && (
        <section class="card trouble" aria-label="What to mind">
          <h2>What to mind</h2>
          <ul>
            {c.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </section>
      )}
      {c.splits.map(({ split, trainedShare, rows }) => (
        <section key={split} aria-label={split}>
          <h2>
            {split}{" "}
            <span class={trainedShare > 0 ? "bad" : "faint"}>
              {trainedShare > 0 ? `${percent(trainedShare)} trained on` : "held out"}
            </span>
          </h2>
          <Methods rows={rows} file={`${c.id} ${split}`} />
        </section>
      ))}
      <p class="faint">
        Intervals are 95 % t intervals over seeds, within what a share can be. Differences are against the
        first method, paired by seed. P(better) is the probability that a run of the method beats a run of the
        first; ties count half. Training is the mean success over all iterations.
      </p>
      <h2>Every run</h2>
      <Table
        label="Success of every run, in %"
        file={`${c.id} runs`}
        rows={c.runs}
        keyOf={({ method, split }) => `${method} ${split}`}
        columns={[
          { name: "Method", cell: ({ method }) => method },
          { name: "Split", cell: ({ split }) => split },
          ...c.seedNumbers.map((seed, i) => ({
            name: `Seed ${seed}`,
            cell: ({ success }: ComparisonDetail["runs"][number]) =>
              success[i] == null ? "–" : (100 * success[i]).toFixed(1),
          })),
        ]}
      />
    </>
  );
}

function Methods({ rows, file }: { readonly rows: readonly ComparedMethodRow[]; readonly file: string }) {
  return (
    <Table
      label={file}
      file={file}
      rows={rows}
      keyOf={({ method }) => method}
      columns={[
        {
          name: "Method",
          class: "about",
          cell: ({ method, chosen }) => (
            <>
              <a href={`/methods/${encodeURIComponent(method)}`}>{method}</a>{" "}
              {chosen && <span class="faint">{chosen}</span>}
            </>
          ),
          value: ({ method }) => method,
        },
        {
          name: "Success",
          cell: ({ success }) =>
            `${success.mean === null ? "–" : percent(success.mean)} ${shareRange(success)}`,
        },
        { name: "From 0 to 100 %", cell: ({ success }) => <IntervalBar of={success} /> },
        {
          name: "Difference, points",
          cell: difference,
          value: ({ against }) => against?.difference.mean ?? null,
        },
        {
          name: "P(better)",
          cell: ({ against }) => (against?.improvement == null ? "–" : against.improvement.toFixed(2)),
        },
        {
          name: "Training",
          cell: ({ training, curve }) => (
            <>
              <Sparkline values={curve} label="Success in training" />{" "}
              {training.mean === null ? "–" : percent(training.mean)}
            </>
          ),
          value: ({ training }) => training.mean,
        },
        { name: "Episodes", cell: ({ episodes }) => counted(episodes) },
        { name: "Tokens", cell: ({ tokens }) => counted(tokens) },
        { name: "Time a run", cell: ({ seconds }) => (seconds === null ? "–" : duration(seconds)) },
      ]}
    />
  );
}

const counted = (n: number | null): string => (n === null ? "–" : Math.round(n).toLocaleString("en-GB"));

/** Coloured where the interval leaves zero out. */
function difference({ against }: ComparedMethodRow) {
  if (!against || against.difference.mean === null) return "–";
  const { mean, low, high } = against.difference;
  const tone = low !== null && low > 0 ? "good" : high !== null && high < 0 ? "bad" : "even";
  return (
    <span class={tone}>
      {points(mean)} {low !== null && high !== null && `[${points(low)}, ${points(high)}]`}
    </span>
  );
}
