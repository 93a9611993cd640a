/** What a check found: both arms seed by seed, and their difference with its interval beside the smallest of interest. */
import { useRef } from "preact/hooks";
import type { StoredEvidence } from "../../../src/methods/evidence.ts";
import { drawnAlone } from "./drawn.ts";
import { SaveDrawing } from "./saveChart.tsx";
import { digits } from "./words.ts";

const [width, height, left, right] = [640, 168, 12, 12];

export function Evidence({ evidence: e }: { readonly evidence: StoredEvidence }) {
  const drawing = useRef<SVGSVGElement>(null);
  const values = [...e.baseline.values, ...e.method.values];
  const place = scale(Math.min(...values), Math.max(...values));
  const arms: readonly (readonly [name: string, values: readonly number[], y: number, ink: string])[] = [
    ["baseline", e.baseline.values, 34, "old"],
    [e.id, e.method.values, 84, "new"],
  ];
  const label = `${e.metric}: baseline ${digits(mean(e.baseline.values))}, ${e.id} ${digits(mean(e.method.values))}; difference ${signed(e.effect)}, interval ${signed(e.interval.low)} to ${signed(e.interval.high)}`;
  return (
    <figure class="evidence">
      <figcaption>
        {e.metric}, {e.direction} is better
      </figcaption>
      <svg ref={drawing} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
        {arms.map(([name, xs, y, ink]) => (
          <g key={name} class={ink}>
            <text x={left} y={y - 14}>
              {name}: {digits(mean(xs))}
            </text>
            <line x1={left} x2={width - right} y1={y} y2={y} class="rule" />
            {xs.map((x, i) => (
              <circle key={`${i} ${x}`} cx={place(x)} cy={y} r="4" />
            ))}
            <line x1={place(mean(xs))} x2={place(mean(xs))} y1={y - 9} y2={y + 9} class="mean" />
          </g>
        ))}
        <Difference evidence={e} />
      </svg>
      <SaveDrawing
        title={`evidence of ${e.id}`}
        drawing={() => drawnAlone(drawing.current!, `${e.metric}, ${e.direction} is better`)}
        numbers={() => [
          ["seed", "baseline", e.id],
          ...e.seeds.map((seed, i) => [seed, e.baseline.values[i] ?? null, e.method.values[i] ?? null]),
        ]}
      />
    </figure>
  );
}

function Difference({ evidence: e }: { readonly evidence: StoredEvidence }) {
  const { low, high } = e.interval;
  const band = e.direction === "higher" ? e.smallestEffect : -e.smallestEffect;
  const place = scale(Math.min(low, 0, band), Math.max(high, 0, band));
  const y = 142;
  return (
    <g class="difference">
      <text x={left} y={y - 14}>
        difference: {signed(e.effect)} [{signed(low)}, {signed(high)}]
      </text>
      <line x1={left} x2={width - right} y1={y} y2={y} class="rule" />
      <rect
        x={Math.min(place(0), place(band))}
        width={Math.abs(place(band) - place(0))}
        y={y - 8}
        height="16"
        class="band"
      />
      <line x1={place(0)} x2={place(0)} y1={y - 10} y2={y + 10} class="zero" />
      <line x1={place(low)} x2={place(high)} y1={y} y2={y} class="interval" />
      <circle cx={place(e.effect)} cy={y} r="5" />
    </g>
  );
}

/** From numbers to places on the picture, with some room at both ends. */
function scale(low: number, high: number): (x: number) => number {
  const span = high - low || Math.abs(high) || 1;
  return (x) => left + 20 + ((x - low) / span) * (width - left - right - 40);
}

const mean = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;
const signed = (x: number): string => `${x > 0 ? "+" : ""}${digits(x)}`;
