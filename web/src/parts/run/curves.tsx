/** The curves of a run as it goes on: held-out success with its intervals among those of training. */
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Curves, Progress, RunDetail } from "../../../../src/serve/dashboard/types.ts";
import { ask, type Loaded, messageOf } from "../../api.ts";
import { Chart, type Line } from "../chart.tsx";
import { useInAddress } from "../inAddress.ts";
import { Failed } from "../notice.tsx";
import { percent } from "../words.ts";
import { type Panel, panelsOf } from "./panels.ts";

/** Smoothing of which nothing is said in the address. */
const usualSmoothing = 0.6;

interface Zoom {
  readonly from: number;
  readonly until: number;
}

/** As the address has it. */
function smoothingIn(stated: string | undefined): number {
  const weight = Number(stated ?? usualSmoothing);
  return weight >= 0 && weight < 1 ? weight : usualSmoothing;
}

/** As the address has it. */
function zoomIn({ from, until }: Readonly<Record<string, string>>): Zoom | undefined {
  const zoom = { from: Number(from ?? Number.NaN), until: Number(until ?? Number.NaN) };
  return zoom.from >= 0 && zoom.until > zoom.from ? zoom : undefined;
}

export function CurvesOf({ run, path }: { readonly run: RunDetail; readonly path: string }) {
  // all that is chosen
  const { query, choose } = useInAddress();
  const { route } = useLocation();
  const zoom = zoomIn(query);
  const setZoom = (to: Zoom | undefined): void =>
    choose({ from: to && String(to.from), until: to && String(to.until) });
  const log = query.log === "true";
  const smoothing = smoothingIn(query.smoothing);
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
  const heldOut = heldOutOf(run.progress, data.iteration, zoom);
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
            onInput={(e) => {
              const { value } = e.currentTarget;
              choose({ smoothing: Number(value) === usualSmoothing ? undefined : value });
            }}
          />{" "}
          <output>{smoothing}</output>
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
        {heldOut.lines.length > 0 && (
          <Chart
            title={heldOut.title}
            unit="share of tasks, 95 % intervals"
            x={heldOut.x}
            lines={heldOut.lines}
            words={percent}
            onZoom={(from, until) => setZoom({ from, until })}
          />
        )}
        {[...panels, ...more.map((name): Panel => ({ title: name, names: [name] }))].map(
          ({ title, unit, names, shares, words }) => (
            <Chart
              key={title}
              title={title}
              {...(unit ? { unit } : {})}
              {...(words ? { words } : {})}
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

/** Success on tasks that are not trained on, over the iterations of the other charts. */
function heldOutOf(
  progress: readonly Progress[],
  iteration: readonly number[],
  zoom: Zoom | undefined,
): { readonly title: string; readonly x: readonly number[]; readonly lines: readonly Line[] } {
  const apart = progress.filter(({ trainedShare }) => trainedShare === 0);
  const [first] = progress;
  // one way of choosing actions: the headline has the others
  const shown = (apart.length > 0 ? apart : progress).filter(({ mode }) => mode === first?.mode);
  const within = (at: number): boolean => !zoom || (at >= zoom.from && at < zoom.until);
  const measured = shown.flatMap(({ curve }) => curve.map((one) => one.iteration));
  const x = [...new Set([...iteration, ...measured])].filter(within).sort((a, b) => a - b);
  const lines = shown.map(({ split, mode, curve }): Line => {
    const at = new Map(curve.map((one) => [one.iteration, one.success]));
    const ends = (end: "mean" | "low" | "high") => x.map((k) => at.get(k)?.[end] ?? null);
    return {
      name: `${split}, ${mode}`,
      values: ends("mean"),
      range: { low: ends("low"), high: ends("high") },
      marked: true,
    };
  });
  return { title: apart.length > 0 ? "Held out" : "Evaluated", x, lines };
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
