/** Learning curves with intervals, as a drawing. */
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ComparedGroup, Value } from "../../../src/serve/dashboard/types.ts";
import { lineInks } from "./ink.ts";
import { groupKey, groupName } from "./words.ts";

/** Drawn as wide as there is room, so that words keep their size. */
const [narrowest, widest, height] = [300, 760, 360];
const [left, right, top, bottom] = [48, 16, 16, 40];
/** Lines are told apart without colour by their dashes. */
const dashes = ["", "7 4", "2 3", "10 3 2 3"];

interface CurvesProps {
  readonly groups: readonly ComparedGroup[];
  readonly title: string;
  readonly drawing: RefObject<SVGSVGElement | null>;
}

export function Curves({ groups, title, drawing }: CurvesProps) {
  const [width, setWidth] = useState(widest);
  useEffect(() => {
    const around = drawing.current?.parentElement;
    if (!around) return;
    const fit = (): void => setWidth(Math.min(widest, Math.max(narrowest, around.clientWidth)));
    const observer = new ResizeObserver(fit);
    observer.observe(around);
    return () => observer.disconnect();
  }, [drawing]);
  const last = Math.max(1, ...groups.map((g) => g.iteration.at(-1) ?? 0));
  const x = (iteration: number): number => left + (iteration / last) * (width - left - right);
  const y = (share: number): number =>
    height - bottom - Math.min(1, Math.max(0, share)) * (height - top - bottom);
  const [faint, line, text] = [inkOf("--faint"), inkOf("--line"), inkOf("--ink")];
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return (
    <svg
      ref={drawing}
      xmlns="http://www.w3.org/2000/svg"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={title}
      font-family="system-ui, sans-serif"
      font-size="12"
    >
      <rect width={width} height={height} fill={inkOf("--raised")} />
      {ticks.map((share) => (
        <g key={share}>
          <line x1={left} x2={width - right} y1={y(share)} y2={y(share)} stroke={line} />
          <text x={left - 8} y={y(share) + 4} fill={faint} text-anchor="end">
            {100 * share} %
          </text>
        </g>
      ))}
      {[...new Set(ticks.map((share) => Math.round(share * last)))].map((at) => (
        <text key={at} x={x(at)} y={height - bottom + 18} fill={faint} text-anchor="middle">
          {at}
        </text>
      ))}
      <text x={(left + width - right) / 2} y={height - 6} fill={faint} text-anchor="middle">
        iteration
      </text>
      {groups.map((g, i) => (
        <path
          key={groupKey(g)}
          d={band(g, x, y)}
          fill={inkOf(lineInks[i % lineInks.length]!)}
          fill-opacity="0.15"
        />
      ))}
      {groups.map((g, i) => (
        <path
          key={groupKey(g)}
          d={path(g.iteration, g.mean, x, y)}
          fill="none"
          stroke={inkOf(lineInks[i % lineInks.length]!)}
          stroke-width="2"
          stroke-dasharray={dashes[i % dashes.length]!}
        />
      ))}
      {groups.map((g, i) => (
        <g key={groupKey(g)} transform={`translate(${left + 12} ${top + 14 + 18 * i})`}>
          <line
            x2="26"
            y1="-4"
            y2="-4"
            stroke={inkOf(lineInks[i % lineInks.length]!)}
            stroke-width="2"
            stroke-dasharray={dashes[i % dashes.length]!}
          />
          <text x="34" fill={text}>
            {groupName(g, groups)} on {g.env}, {g.runs.length} {g.runs.length === 1 ? "run" : "runs"}
          </text>
        </g>
      ))}
    </svg>
  );
}

const inkOf = (name: string): string => `var(${name})`;

type Place = (value: number) => number;

function path(at: readonly number[], values: readonly Value[], x: Place, y: Place): string {
  let out = "";
  values.forEach((value, i) => {
    if (value === null) return;
    out += `${out === "" || values[i - 1] === null ? "M" : "L"}${x(at[i]!).toFixed(1)} ${y(value).toFixed(1)}`;
  });
  return out;
}

/** Between low and high, where both have an end. */
function band({ iteration, low, high }: ComparedGroup, x: Place, y: Place): string {
  const there = iteration.map((_, i) => i).filter((i) => low[i] != null && high[i] != null);
  if (there.length === 0) return "";
  const point = (i: number, value: Value | undefined): string =>
    `${x(iteration[i]!).toFixed(1)} ${y(value ?? 0).toFixed(1)}`;
  const upper = there.map((i) => point(i, high[i]));
  const lower = there.toReversed().map((i) => point(i, low[i]));
  return `M${[...upper, ...lower].join("L")}Z`;
}
