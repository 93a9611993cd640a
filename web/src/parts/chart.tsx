/** A chart of curves over iterations. Charts that share a name move their cursors together; dragging zooms all of them. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Extent } from "../../../src/serve/dashboard/types.ts";
import { At, Legend } from "./chartLegend.tsx";
import { inks, lineInks } from "./ink.ts";
import { SaveChart } from "./saveChart.tsx";
import { decades, flatRange, scaled, steps, unscaled, wholeDecades } from "./scale.ts";
import { smoothed } from "./smoothed.ts";
import { dark } from "./theme.tsx";
import { digits, percent } from "./words.ts";

export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** How far the curve reaches from each point to before the next one, drawn as a band; of a marked line, intervals of its points. */
  readonly range?: Extent | undefined;
  /** Whether each point is marked, with its interval: few were measured. */
  readonly marked?: boolean;
}

interface ChartProps {
  readonly title: string;
  /** What the numbers are: "nats a token", "share", … */
  readonly unit?: string;
  readonly x: readonly number[];
  readonly lines: readonly Line[];
  readonly log?: boolean;
  /** Weight of what came before, in [0, 1): 0 shows the curve as it is, anything else draws that curve faintly behind. */
  readonly smoothing?: number;
  readonly onZoom?: (from: number, until: number) => void;
  /** Somebody asks for what is behind the point of this index, by a click or with Enter. */
  readonly onOpen?: (index: number) => void;
  /** Iterations that something is said about. */
  readonly marked?: readonly (readonly [from: number, until: number])[];
  /** How values are written. Default: three digits. */
  readonly words?: (value: number) => string;
}

const height = 180;
/** Pixels: a pointer that moves less has clicked, not dragged. */
const least = 4;
const edge: uPlot.Series = { class: "edge", width: 0, points: { show: false }, spanGaps: true };
/** Charts of fewer points mark each of them. */
const fewPoints = 60;

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
  words = digits,
}: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const hovered = useSignal<number | undefined>(undefined);
  const none = x.map(() => null);
  const data: uPlot.AlignedData = [
    [...x],
    ...lines.map(({ values }) => scaled(smoothed(values, smoothing), log)),
    ...lines.map(({ values }) => (smoothing > 0 ? scaled(values, log) : none)),
    ...lines.flatMap(({ range }) => [scaled(range?.high ?? none, log), scaled(range?.low ?? none, log)]),
  ];
  const latest = useRef({ data, log, onZoom, onOpen, words });
  latest.current = { data, log, onZoom, onOpen, words };
  const names = lines
    .map(({ name, marked, values }) => `${name}${marked && pointsOf(values) < 3 ? " …" : ""}`)
    .join("\n");
  const night = dark.value;

  // names stand for the lines, night for the colours of the sheet: the chart is made anew only where its shape changes, and new
  // points are set into it
  useEffect(() => {
    const node = place.current;
    if (!node) return;
    // paper that is printed before the chart is drawn anew turns its colours round
    node.classList.toggle("night", night);
    const ink = inks();
    const axis = {
      stroke: ink("--faint"),
      grid: { stroke: ink("--line"), width: 1 },
      ticks: { show: false },
    };
    const inkOf = (i: number): string => ink(lineInks[i % lineInks.length]!);
    const chart = new uPlot(
      {
        width: node.clientWidth,
        height,
        cursor: {
          sync: { key: "iteration" },
          drag: { x: true, y: false, setScale: false },
          focus: { prox: 24 },
        },
        legend: { show: false },
        scales: {
          x: { time: false },
          y: {
            range: (_, low, high) => {
              if (low === null) return [null, null]; // no point has a place
              const { log, words } = latest.current;
              if (log) return wholeDecades(low, high);
              return low === high ? flatRange(low, words === percent) : uPlot.rangeNum(low, high, 0.1, true);
            },
          },
        },
        axes: [
          { ...axis, size: 30 },
          {
            ...axis,
            size: 52,
            splits: (_, _axis, low, high, step) =>
              latest.current.log ? decades(low, high) : steps(low, high, step),
            values: (_, ticks) => {
              const { log, words } = latest.current;
              return ticks.map((t) => (log ? digits(unscaled(t, true)) : words(t)));
            },
          },
        ],
        series: [
          { label: "iteration" },
          ...lines.map(({ name, marked = false, values }, i) => ({
            label: name,
            stroke: inkOf(i),
            width: 1.75,
            // of two points nobody knows what was between them
            ...(marked && pointsOf(values) < 3 ? { dash: [4, 4] } : {}),
            spanGaps: true,
            points: {
              show: (u: uPlot) => marked || ((u.data[0]?.length ?? 0) < fewPoints && !isSmooth(u)),
              size: marked ? 6 : 4,
            },
          })),
          // the curves as they were measured, behind the smooth ones
          ...lines.map((_, i) => ({
            ...edge,
            width: 1,
            stroke: faded(inkOf(i), 0.35),
          })),
          // the ends of the bands: no lines of their own
          ...lines.flatMap(() => [edge, edge]),
        ],
        bands: lines.flatMap(({ marked = false }, i) =>
          marked ? [] : [{ series: endsOf(lines.length, i), fill: faded(inkOf(i), 0.2) }],
        ),
        hooks: {
          draw: [
            (u) =>
              lines.forEach(({ marked = false }, i) => {
                if (marked) drawIntervals(u, endsOf(lines.length, i), inkOf(i));
              }),
          ],
          setCursor: [
            (u) => {
              hovered.value = u.cursor.idx ?? undefined;
            },
          ],
          ready: [
            (u) => {
              let pressed = 0;
              u.over.addEventListener("mousedown", (e) => {
                pressed = e.clientX;
              });
              u.over.addEventListener("click", (e) => {
                const { idx } = u.cursor;
                if (Math.abs(e.clientX - pressed) < least && idx != null) latest.current.onOpen?.(idx);
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
              latest.current.onZoom?.(Math.max(0, Math.floor(from)), Math.ceil(until) + 1);
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
  }, [names, night, hovered]);

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
  const here = at === undefined ? told(lines, words) : toldAt(lines, at, x[at], words);

  const suspect = marked.length > 0 ? " suspect" : "";
  return (
    <figure class={`chart${suspect}`}>
      <figcaption>
        <span>
          {title} {unit && <span class="faint">{unit}</span>}
        </span>
        <At x={x} hovered={hovered} />
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
      <Legend title={title} lines={lines} hovered={hovered} words={words} />
      <SaveChart title={title} x={x} lines={lines} smoothing={smoothing} words={words} />
    </figure>
  );
}

const pointsOf = (values: Line["values"]): number => values.filter((value) => value !== null).length;

/** Places of the upper and lower ends of a line's band among the series. */
const endsOf = (lines: number, i: number): [number, number] => [2 * lines + 1 + 2 * i, 2 * lines + 2 + 2 * i];

/** A vertical line at each point, from one end of its interval to the other. */
function drawIntervals(u: uPlot, [upper, lower]: readonly [number, number], ink: string): void {
  const { ctx } = u;
  ctx.save();
  ctx.strokeStyle = ink;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.beginPath();
  u.data[0]?.forEach((at, k) => {
    const [high, low] = [u.data[upper]?.[k], u.data[lower]?.[k]];
    if (high == null || low == null) return;
    const x = u.valToPos(at, "x", true);
    ctx.moveTo(x, u.valToPos(high, "y", true));
    ctx.lineTo(x, u.valToPos(low, "y", true));
  });
  ctx.stroke();
  ctx.restore();
}

/** Whether the measured curves are drawn behind smooth ones: they have points then. */
function isSmooth({ data }: uPlot): boolean {
  const lines = (data.length - 1) / 4;
  return data.slice(1 + lines, 1 + 2 * lines).some((values) => values?.some((value) => value !== null));
}

type Words = (value: number) => string;

const toldAt = (lines: readonly Line[], at: number, iteration: number | undefined, words: Words): string =>
  `iteration ${iteration ?? at}: ${lines.map(({ name, values }) => `${name} ${values[at] == null ? "not measured" : words(values[at])}`).join(", ")}`;

/** `rgb(11, 87, 164)` → so much of it. */
const faded = (colour: string, share: number): string =>
  colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${share})`);

/** A chart for those who do not see it. */
function told(lines: readonly Line[], words: Words): string {
  return lines
    .map(({ name, values }) => {
      const there = values.filter((value) => value !== null);
      if (there.length === 0) return `${name} was not measured`;
      return `${name} from ${words(there[0]!)} to ${words(there.at(-1)!)}, between ${words(Math.min(...there))} and ${words(Math.max(...there))}`;
    })
    .join("; ");
}
