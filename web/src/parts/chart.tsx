/** A chart of curves over iterations. Charts that share a name move their cursors together; dragging zooms all of them. */
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Extent } from "../../../src/serve/dashboard/types.ts";
import { inks } from "./ink.ts";
import { decades, scaled, steps, unscaled, wholeDecades } from "./scale.ts";
import { dark } from "./theme.tsx";
import { digits } from "./words.ts";

export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** How far the curve reaches from each point to before the next one: drawn as a band. */
  readonly range?: Extent | undefined;
}

interface ChartProps {
  readonly title: string;
  /** What the numbers are: "nats a token", "share", … */
  readonly unit?: string;
  readonly x: readonly number[];
  readonly lines: readonly Line[];
  readonly log?: boolean;
  /** Weight of what came before, in [0, 1): 0 shows the curve as it is. */
  readonly smoothing?: number;
  readonly onZoom?: (from: number, until: number) => void;
  /** Somebody asks for what is behind the point of this index, by a click or with Enter. */
  readonly onOpen?: (index: number) => void;
  /** Iterations that something is said about. */
  readonly marked?: readonly (readonly [from: number, until: number])[];
}

const height = 180;
/** Pixels: a pointer that moves less has clicked, not dragged. */
const least = 4;
const edge: uPlot.Series = { class: "edge", width: 0, points: { show: false }, spanGaps: true };
const lineInks = ["--line-1", "--line-2", "--line-3", "--line-4"];

export function Chart({
  title,
  unit,
  x,
  lines,
  log = false,
  smoothing = 0,
  onZoom,
  onOpen,
  marked = [],
}: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const zoomed = useRef(onZoom);
  zoomed.current = onZoom;
  const opened = useRef(onOpen);
  opened.current = onOpen;
  const shown = lines.map((line) => ({ ...line, values: smoothed(line.values, smoothing) }));
  const none = x.map(() => null);
  const data: uPlot.AlignedData = [
    [...x],
    ...shown.map(({ values }) => scaled(values, log)),
    ...lines.flatMap(({ range }) => [scaled(range?.high ?? none, log), scaled(range?.low ?? none, log)]),
  ];
  const latest = useRef({ data, log });
  latest.current = { data, log };
  const names = lines.map(({ name }) => name).join("\n");
  const night = dark.value;

  // names stand for the lines, night for the colours of the sheet: the chart is made anew only where its shape changes, and new
  // points are set into it
  useEffect(() => {
    const node = place.current;
    if (!node) return;
    const ink = inks();
    const axis = {
      stroke: ink("--faint"),
      grid: { stroke: ink("--line"), width: 1 },
      ticks: { show: false },
    };
    const chart = new uPlot(
      {
        width: node.clientWidth,
        height,
        cursor: {
          sync: { key: "iteration" },
          drag: { x: true, y: false, setScale: false },
          focus: { prox: 24 },
        },
        legend: { live: true },
        scales: {
          x: { time: false },
          y: {
            range: (_, low, high) => {
              if (low === null) return [null, null]; // no point has a place
              return latest.current.log ? wholeDecades(low, high) : uPlot.rangeNum(low, high, 0.1, true);
            },
          },
        },
        axes: [
          axis,
          {
            ...axis,
            size: 52,
            splits: (_, _axis, low, high, step) =>
              latest.current.log ? decades(low, high) : steps(low, high, step),
            values: (_, ticks) => ticks.map((t) => digits(unscaled(t, latest.current.log))),
          },
        ],
        series: [
          { label: "iteration" },
          ...lines.map(({ name }, i) => ({
            label: name,
            stroke: ink(lineInks[i % lineInks.length]!),
            width: 1.5,
            spanGaps: true,
            points: { show: (u: uPlot) => (u.data[0]?.length ?? 0) < 60, size: 4 },
            value: (_: uPlot, value: number | null) =>
              value === null ? "–" : digits(unscaled(value, latest.current.log)),
          })),
          // the ends of the bands: no lines of their own, and not in the legend
          ...lines.flatMap(() => [edge, edge]),
        ],
        bands: lines.map((_, i) => ({
          series: [lines.length + 1 + 2 * i, lines.length + 2 + 2 * i],
          fill: faded(ink(lineInks[i % lineInks.length]!)),
        })),
        hooks: {
          ready: [
            (u) => {
              let pressed = 0;
              u.over.addEventListener("mousedown", (e) => {
                pressed = e.clientX;
              });
              u.over.addEventListener("click", (e) => {
                const { idx } = u.cursor;
                if (Math.abs(e.clientX - pressed) < least && idx != null) opened.current?.(idx);
              });
            },
          ],
          setSelect: [
            (u) => {
              if (u.select.width < least) return;
              const [from, until] = [
                u.posToVal(u.select.left, "x"),
                u.posToVal(u.select.left + u.select.width, "x"),
              ];
              u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              zoomed.current?.(Math.max(0, Math.floor(from)), Math.ceil(until) + 1);
            },
          ],
        },
      },
      latest.current.data,
      node,
    );
    plot.current = chart;
    const observer = new ResizeObserver(() => chart.setSize({ width: node.clientWidth, height }));
    observer.observe(node);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [names, night]);

  useEffect(() => plot.current?.setData(latest.current.data), [x, lines, log, smoothing]);

  const [at, setAt] = useState<number>();
  const step = (e: KeyboardEvent): void => {
    const chart = plot.current;
    if (e.key === "Enter" && at !== undefined) onOpen?.(at);
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!chart || by === 0 || x.length === 0) return;
    e.preventDefault();
    const next = Math.min(x.length - 1, Math.max(0, (at ?? (by > 0 ? -1 : x.length)) + by));
    setAt(next);
    chart.setCursor({ left: chart.valToPos(x[next]!, "x"), top: height / 3 });
  };
  const here = at === undefined ? told(lines) : toldAt(lines, at, x[at]);

  const suspect = marked.length > 0 ? " suspect" : "";
  return (
    <figure class={`chart${suspect}`}>
      <figcaption>
        {title} {unit && <span class="faint">{unit}</span>}
      </figcaption>
      <div
        class="plot"
        ref={place}
        tabIndex={0}
        onKeyDown={step}
        role="slider"
        aria-label={title}
        aria-valuemin={x[0] ?? 0}
        aria-valuemax={x.at(-1) ?? 0}
        aria-valuenow={at === undefined ? (x.at(-1) ?? 0) : (x[at] ?? 0)}
        aria-valuetext={here}
      />
    </figure>
  );
}

const toldAt = (lines: readonly Line[], at: number, iteration: number | undefined): string =>
  `iteration ${iteration ?? at}: ${lines.map(({ name, values }) => `${name} ${values[at] == null ? "not measured" : digits(values[at])}`).join(", ")}`;

/** Exponential moving average, corrected for its start; gaps stay gaps. */
export function smoothed(values: readonly (number | null)[], weight: number): readonly (number | null)[] {
  if (weight === 0) return values;
  let [sum, norm] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    sum = weight * sum + (1 - weight) * value;
    norm = weight * norm + (1 - weight);
    return sum / norm;
  });
}

/** `rgb(11, 87, 164)` → a fifth of it. */
const faded = (colour: string): string => colour.replace(/^rgb\((.*)\)$/, "rgba($1, 0.2)");

/** A chart for those who do not see it. */
function told(lines: readonly Line[]): string {
  return lines
    .map(({ name, values }) => {
      const there = values.filter((value) => value !== null);
      if (there.length === 0) return `${name} was not measured`;
      return `${name} from ${digits(there[0]!)} to ${digits(there.at(-1)!)}, between ${digits(Math.min(...there))} and ${digits(Math.max(...there))}`;
    })
    .join("; ");
}
