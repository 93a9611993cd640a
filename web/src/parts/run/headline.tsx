/** What a run brought: success before and after it on the same tasks, and a few numbers of the run itself. */
import type { Measured, Progress, RunDetail } from "../../../../src/serve/dashboard/types.ts";
import { IntervalBar } from "../intervalBar.tsx";
import { duration, percent, points, shareRange } from "../words.ts";

export function Headline({ run }: { readonly run: RunDetail }) {
  const [first, ...others] = run.progress;
  return (
    <section class="headline" aria-label="Result">
      {first ? <Main of={first} running={run.state === "running"} /> : <NotMeasured run={run} />}
      {others.length > 0 && (
        <div class="card">
          <h2>Other measurements</h2>
          <dl>
            {others.map((one) => (
              <div key={`${one.split} ${one.mode}`}>
                <dt class="faint">{where(one)}</dt>
                <dd>{arrow(one)}</dd>
              </div>
            ))}
          </dl>
        </div>
      )}
      <dl class="card stats">
        {statsOf(run).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const shareOf = ({ success }: Measured): string => (success.mean === null ? "–" : percent(success.mean));

/** "test, greedy", with what is not held out of it. */
function where({ split, mode, trainedShare }: Progress): string {
  const trained =
    trainedShare === 0 ? "" : trainedShare === 1 ? ", trained on" : `, ${percent(trainedShare)} trained on`;
  return `${split}${trained}, ${mode}`;
}

const arrow = ({ before, latest }: Progress): string =>
  [before, latest].flatMap((one) => (one ? shareOf(one) : [])).join(" → ");

function Main({ of: progress, running }: { readonly of: Progress; readonly running: boolean }) {
  const { before, latest, ended = false, tasks, split, mode, trainedShare, curve } = progress;
  const then = latest ?? (before ? undefined : curve[0]);
  return (
    <div class="card result">
      <h2>
        {trainedShare === 0 ? "Held-out success" : "Success on tasks that were trained on"}{" "}
        <span class="faint">
          {tasks.toLocaleString("en-GB")} tasks of {split}, {mode} actions
        </span>
      </h2>
      <p class="figures">
        {before && <Figure name="before" of={before} />}
        {before && then && (
          <span class="arrow" aria-hidden="true">
            →
          </span>
        )}
        {then && <Figure name={ended ? "after" : `after ${then.iteration} iterations`} of={then} main />}
        {before && !then && (
          <span class="faint">{running ? "measured again after the run" : "not measured after the run"}</span>
        )}
      </p>
      <Change of={progress} />
    </div>
  );
}

function Figure({
  name,
  of,
  main = false,
}: {
  readonly name: string;
  readonly of: Measured;
  readonly main?: boolean;
}) {
  const interval = shareRange(of.success);
  return (
    <span class="figure">
      <span class="faint">{name}</span>
      <strong class={main ? "share main" : "share"}>{shareOf(of)}</strong>
      <IntervalBar of={of.success} />
      <span class="faint">{interval}</span>
    </span>
  );
}

/** The difference in words: an interval that holds zero shows no difference. */
function Change({ of: { change, before, latest } }: { readonly of: Progress }) {
  if (!before || !latest) return null;
  if (!change || change.difference.mean === null) {
    return <p class="faint">The tasks of both measurements were not kept, so they cannot be paired.</p>;
  }
  const { difference, gained, lost } = change;
  const { mean, low, high } = difference;
  const [tone, verdict] =
    low !== null && low > 0
      ? (["good", "Better"] as const)
      : high !== null && high < 0
        ? (["bad", "Worse"] as const)
        : (["even", "No difference shown"] as const);
  return (
    <p>
      <strong class={tone}>
        {verdict}: {points(mean ?? 0)} points
      </strong>{" "}
      <span class="faint">
        [{low === null ? "–" : points(low)}, {high === null ? "–" : points(high)}] at 95 %, paired by task:{" "}
        {gained} gained, {lost} lost
      </span>
    </p>
  );
}

function NotMeasured({ run }: { readonly run: RunDetail }) {
  return (
    <div class="card result">
      <h2>Held-out success</h2>
      <p class="faint">
        {run.state === "running"
          ? "Not measured yet."
          : "Not measured: the run was given no tasks to evaluate on, or ended before it could."}
      </p>
    </div>
  );
}

function statsOf(run: RunDetail): readonly (readonly [name: string, value: string])[] {
  const trained = run.spark.findLast((value) => value !== null);
  return [
    ["Success in training, last", trained == null ? "–" : percent(trained)],
    ["Iterations", run.iterations.toLocaleString("en-GB")],
    ["Time", duration(run.seconds)],
    ["Per iteration", run.iterations > 0 ? duration(run.seconds / run.iterations) : "–"],
  ];
}
