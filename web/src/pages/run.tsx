/** One run: what it is, what is off with it, its curves as it goes on, and how well it did. */
import { signal } from "@preact/signals";
import { memo } from "preact/compat";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type { Curves, RunDetail, RunRow } from "../../../src/serve/dashboard/types.ts";
import { ask, type Loaded, messageOf, useEvents } from "../api.ts";
import { Chart, type Line } from "../parts/chart.tsx";
import { useInAddress } from "../parts/inAddress.ts";
import { Failed, Waiting } from "../parts/notice.tsx";
import { paced } from "../parts/paced.ts";
import { digits, duration, moment, percent } from "../parts/words.ts";

interface Panel {
  readonly title: string;
  readonly unit?: string;
  readonly names: readonly string[];
  /** Shown as shares of their sum. */
  readonly shares?: true;
}

/** Which charts a run has, by what it measured. Everything that no chart claims is offered below them. */
function panelsOf(metrics: readonly string[]): readonly Panel[] {
  const ending = (end: string): string[] => metrics.filter((name) => name.endsWith(end));
  const those = (...names: string[]): string[] => names.filter((name) => metrics.includes(name));
  // what learns from examples plays nothing: its loss is what there is to see
  const plays = metrics.includes("success");
  const panels: Panel[] = [
    { title: "Success", unit: "share of trained episodes", names: those("success") },
    { title: "Loss", unit: "of examples", names: plays ? [] : ending(".loss") },
    { title: "Reward", unit: "mean of an episode", names: those("reward", "return") },
    { title: "Length", unit: "turns an episode", names: those("turns") },
    { title: "Entropy", unit: "nats a token", names: those("entropy") },
    { title: "KL", unit: "nats a token", names: ending(".kl") },
    { title: "Clipped", unit: "share of tokens", names: ending(".clipFraction") },
    { title: "Gradient norm", names: those("gradientNorm") },
    { title: "Sampling against training", unit: "largest gap, nats", names: those("logpGap") },
    { title: "Staleness", unit: "iterations behind, mean of samples", names: those("staleness") },
    {
      title: "Importance weights",
      unit: "mean; share at the cap",
      names: those("importance", "importance.truncated"),
    },
    { title: "Speed", unit: "tokens a second", names: plays ? those("tokensPerSecond") : [] },
    {
      title: "Time",
      unit: "share of an iteration",
      names: metrics.filter((name) => name.startsWith("seconds.")),
      shares: true,
    },
  ];
  return panels.filter(({ names }) => names.length > 0);
}

/** To draw all charts anew costs some three times what asking for the run does: 2 % of one core in all. */
const pace = { least: 1000, most: 10_000, times: 150 };

export function Run() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const path = `/api/runs/${encodeURIComponent(id)}`;
  const loaded = useMemo(() => signal<Loaded<RunDetail>>({ state: "waiting" }), []);
  const { load, leave } = useMemo(() => {
    const control = new AbortController();
    const { signal: left } = control;
    const read = async (): Promise<void> => {
      try {
        loaded.value = { state: "ready", data: await ask<RunDetail>(path, { signal: left }) };
      } catch (e) {
        if (!left.aborted) loaded.value = { state: "failed", why: messageOf(e) };
      }
    };
    return { load: paced(read, pace), leave: () => control.abort() };
  }, [path, loaded]);
  useEffect(() => {
    load();
    return leave;
  }, [load, leave]);
  useEvents<RunRow>(`${path}/live`, "run", load);

  const now = loaded.value;
  if (now.state === "waiting") return <Waiting what="the run" />;
  if (now.state === "failed") return <Failed what="The run" why={now.why} />;
  return <Whole run={now.data} path={path} />;
}

const Whole = memo(({ run, path }: { readonly run: RunDetail; readonly path: string }) => {
  useEffect(() => {
    document.title = `${run.name} · Whetstone`;
  }, [run.name]);
  return (
    <>
      <h1>{run.name}</h1>
      <p class="facts">
        {run.method} on {run.env} · {run.computed} · seed {run.seed} · since {moment(run.started)} ·{" "}
        {/* last and in one piece: it changes while one looks */}
        <span class={`state ${run.state}`}>
          {`${run.state}, ${run.iterations} iterations in ${duration(run.seconds)}`}
        </span>
      </p>
      <p>
        <a href={`/runs/${encodeURIComponent(run.id)}/episodes`}>Episodes</a>
      </p>
      {run.error !== undefined && (
        <p class="bad" role="alert">
          The run failed. {run.error}
        </p>
      )}
      <Health run={run} />
      <CurvesOf run={run} path={path} />
      <Evaluations run={run} />
      <details>
        <summary>Settings</summary>
        <pre class="boxed">{JSON.stringify(run.config, null, 2)}</pre>
        <p class="faint">{run.folder}</p>
      </details>
    </>
  );
});

/** What is wrong, what to do about it, and everything that was looked at. */
function Health({ run }: { readonly run: RunDetail }) {
  const { checks, findings } = run.health;
  const ran = checks.filter(({ state }) => state !== "not measured");
  const rest = checks.filter(({ state }) => state === "not measured");
  if (run.iterations === 0 && findings.length === 0) return <p class="health none kept">No iteration yet.</p>;
  const verdict =
    findings.length === 0
      ? `No problems found in ${ran.length} checks.`
      : `${findings.length} ${findings.length === 1 ? "problem" : "problems"} found in ${ran.length} checks.`;
  const state = `health${findings.length === 0 ? " none" : ""}${run.state === "running" ? " kept" : ""}`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys, too
    <section class={state} aria-label="Health" tabIndex={0}>
      <details>
        <summary>{verdict}</summary>
        <ul class="checks">
          {checks.map(({ check, title, state }) => (
            <li key={check} class={state === "found" ? "found" : "faint"}>
              {title}: {state === "found" ? "see below" : state}
            </li>
          ))}
        </ul>
        {rest.length > 0 && (
          <p class="faint">“not measured”: this run has nothing that the check looks at.</p>
        )}
      </details>
      <ul>
        {findings.map((f) => (
          <li key={`${f.check} ${f.problem}`} class={f.severity}>
            <strong>{f.problem}</strong> {f.fix}{" "}
            {f.next && (
              <>
                <code>npx {f.next}</code>{" "}
              </>
            )}
            {f.episodes && f.from !== undefined && f.until !== undefined && (
              <a
                href={`/runs/${encodeURIComponent(run.id)}/episodes?from=${f.from}&until=${f.until}${f.episodes === "all" ? "" : `&outcome=${f.episodes}`}`}
              >
                Episodes of iterations {f.from} to {f.until - 1}
              </a>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Zoom {
  readonly from: number;
  readonly until: number;
}

/** As the address has it. */
function zoomIn({ from, until }: Readonly<Record<string, string>>): Zoom | undefined {
  const zoom = { from: Number(from ?? Number.NaN), until: Number(until ?? Number.NaN) };
  return zoom.from >= 0 && zoom.until > zoom.from ? zoom : undefined;
}

function CurvesOf({ run, path }: { readonly run: RunDetail; readonly path: string }) {
  // all that is chosen, but for smoothing
  const { query, choose } = useInAddress();
  const { route } = useLocation();
  const zoom = zoomIn(query);
  const setZoom = (to: Zoom | undefined): void =>
    choose({ from: to && String(to.from), until: to && String(to.until) });
  const log = query.log === "true";
  const [smoothing, setSmoothing] = useState(0);
  const more = query.more?.split(",").filter((name) => run.metrics.includes(name)) ?? [];
  const [curves, setCurves] = useState<Loaded<Curves>>({ state: "waiting" });
  const panels = panelsOf(run.metrics);
  const claimed = new Set(panels.flatMap(({ names }) => names));
  const others = run.metrics.filter((name) => !claimed.has(name));
  const names = [...claimed, ...more].join(",");
  const range = zoom ? `&from=${zoom.from}&until=${zoom.until}` : "";

  useEffect(() => {
    const control = new AbortController();
    const asked = `${path}/curves?names=${encodeURIComponent(names)}${range}`;
    const load = async (): Promise<void> => {
      const data = await ask<Curves>(asked, { signal: control.signal });
      setCurves((before) => ({ state: "ready", data: { ...data, ...rangesOf(before, data) } }));
      const [first = 0, last = 0] = [data.iteration[0], data.iteration.at(-1)];
      if (last - first < data.iteration.length) return;
      // the points are there at once; what lies between them takes longer to read
      setCurves({
        state: "ready",
        data: await ask<Curves>(`${asked}&ranges=true`, { signal: control.signal }),
      });
    };
    load().catch((e: unknown) => {
      if (!control.signal.aborted) setCurves({ state: "failed", why: messageOf(e) });
    });
    return () => control.abort();
  }, [path, names, range, run.iterations]);

  if (curves.state === "failed") return <Failed what="Curves" why={curves.why} />;
  const data = curves.state === "ready" ? curves.data : { iteration: [], values: {} };
  const marked = (names: readonly string[]) =>
    run.health.findings.flatMap(({ metric, from, until }) =>
      metric !== undefined && from !== undefined && until !== undefined && names.includes(metric)
        ? [[from, until] as const]
        : [],
    );
  // a point stands for the iterations up to the next one
  const open = (index: number): void => {
    const from = data.iteration[index] ?? 0;
    const until = data.iteration[index + 1] ?? from + 1;
    route(`/runs/${encodeURIComponent(run.id)}/episodes?from=${from}&until=${until}`);
  };
  return (
    <section aria-label="Curves">
      <div class="tools">
        <label>
          Smoothing{" "}
          <input
            type="range"
            min="0"
            max="0.98"
            step="0.02"
            value={smoothing}
            onInput={(e) => setSmoothing(Number(e.currentTarget.value))}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={log}
            onChange={(e) => choose({ log: e.currentTarget.checked ? "true" : undefined })}
          />{" "}
          Log axis
        </label>
        <button type="button" disabled={!zoom} onClick={() => setZoom(undefined)}>
          {zoom ? `Iterations ${zoom.from} to ${zoom.until - 1}: show all` : "Drag over a chart to zoom"}
        </button>
        {others.length > 0 && (
          <label>
            Another metric{" "}
            <select
              value=""
              onChange={(e) => {
                const name = e.currentTarget.value;
                if (name) choose({ more: [...more.filter((n) => n !== name), name].join(",") });
              }}
            >
              <option value="">choose…</option>
              {others.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
        <span class="faint">A click on a curve, or Enter: its episodes</span>
      </div>
      <div class="charts">
        {[...panels, ...more.map((name): Panel => ({ title: name, names: [name] }))].map(
          ({ title, unit, names, shares }) => (
            <Chart
              key={title}
              title={title}
              {...(unit ? { unit } : {})}
              x={data.iteration}
              lines={shares ? sharesOf(names, data) : linesOf(names, data)}
              log={log}
              smoothing={smoothing}
              marked={marked(names)}
              onZoom={(from, until) => setZoom({ from, until })}
              onOpen={open}
            />
          ),
        )}
      </div>
    </section>
  );
}

const linesOf = (names: readonly string[], { values, ranges }: Curves): Line[] =>
  names.map((name) => ({ name, values: values[name] ?? [], range: ranges?.[name] }));

/** Each as its share of the sum of those that were measured. */
function sharesOf(names: readonly string[], { iteration, values }: Curves): Line[] {
  const sums = iteration.map((_, i) => names.reduce((sum, name) => sum + (values[name]?.[i] ?? 0), 0));
  return names.map((name) => ({
    name: name.replace(/^seconds\./, ""),
    values: iteration.map((_, i) => {
      const value = values[name]?.[i] ?? null;
      return value === null || !sums[i] ? null : value / sums[i];
    }),
  }));
}

/** Bands that are known stay until new ones come, so that a run that goes on does not flicker. */
function rangesOf(before: Loaded<Curves>, { iteration }: Curves): Pick<Curves, "ranges"> {
  if (before.state !== "ready" || before.data.ranges === undefined) return {};
  const same = before.data.iteration.length === iteration.length && before.data.iteration[0] === iteration[0];
  return same ? { ranges: before.data.ranges } : {};
}

const trainedWords = (share: number): string => (share === 1 ? "trained on" : `${percent(share)} trained on`);

function Evaluations({ run }: { readonly run: RunDetail }) {
  if (run.evaluations.length === 0) return null;
  return (
    <section aria-label="Evaluations">
      <h2>Evaluations</h2>
      <div class="wide">
        <table>
          <thead>
            <tr>
              {["When", "Split", "Actions", "Success", "95 % interval", "Reward", "Turns", "Tasks"].map(
                (name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {run.evaluations.map((e) => (
              <tr key={`${e.when} ${e.iteration} ${e.split} ${e.mode}`}>
                <th scope="row">{e.when === "during" ? `after ${e.iteration}` : e.when}</th>
                <td>
                  {e.split}
                  {e.trainedShare > 0 && <span class="bad"> {trainedWords(e.trainedShare)}</span>}
                </td>
                <td>{e.mode}</td>
                <td>{percent(e.success.mean)}</td>
                <td>
                  {percent(e.success.low)} to {percent(e.success.high)}
                </td>
                <td>{digits(e.reward)}</td>
                <td>{digits(e.turns)}</td>
                <td>{e.tasks}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
