/** A chart of curves as a drawing for a file: what the page draws on a canvas, as SVG. */
import type { Extent } from "../../../src/serve/dashboard/types.ts";
import { flatRange } from "./scale.ts";
import { percent } from "./words.ts";

export interface DrawnLine {
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly ink: string;
  /** The curve as it was measured, drawn faintly behind a smooth one. */
  readonly measured?: readonly (number | null)[] | undefined;
  /** Drawn as a band; of a marked line, as an interval at each point. */
  readonly range?: Extent | undefined;
  readonly marked?: boolean | undefined;
}

interface Drawing {
  readonly title: string;
  readonly x: readonly number[];
  readonly lines: readonly DrawnLine[];
  /** Colours as a file can have them. */
  readonly ink: { readonly text: string; readonly line: string; readonly ground: string };
  readonly words: (value: number) => string;
}

const [drawnWidth, drawnHeight] = [760, 360];
const [left, right, top, bottom] = [64, 16, 36, 40];

/** Linear axes, five marks on each. @returns an SVG document. */
export function chartDrawing({ title, x, lines, ink, words }: Drawing): string {
  const [low, high] = ends(lines, words === percent);
  const span = high - low;
  const [first, last] = [x[0] ?? 0, x.at(-1) ?? 1];
  const across = (at: number): number =>
    left + ((at - first) / Math.max(1, last - first)) * (drawnWidth - left - right);
  const up = (value: number): number =>
    drawnHeight - bottom - ((value - low) / span) * (drawnHeight - top - bottom);
  const marks = [0, 0.25, 0.5, 0.75, 1];
  const rows = marks.map((share) => {
    const y = up(low + share * span).toFixed(1);
    return `<line x1="${left}" x2="${drawnWidth - right}" y1="${y}" y2="${y}" stroke="${ink.line}"/><text x="${left - 8}" y="${y}" dy="4" fill="${ink.text}" text-anchor="end">${escaped(words(low + share * span))}</text>`;
  });
  const columns = [...new Set(marks.map((share) => Math.round(first + share * (last - first))))].map(
    (at) =>
      `<text x="${across(at).toFixed(1)}" y="${drawnHeight - bottom + 18}" fill="${ink.text}" text-anchor="middle">${at}</text>`,
  );
  const curves = lines.map((line) => drawn(x, line, across, up));
  const names = lines.map(
    ({ name, ink }, i) =>
      `<text x="${drawnWidth - right}" y="${top + 14 + 16 * i}" fill="${ink}" text-anchor="end">${escaped(name)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${drawnWidth}" height="${drawnHeight}" viewBox="0 0 ${drawnWidth} ${drawnHeight}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="${ink.ground}"/>`,
    `<text x="${left}" y="22" fill="${ink.text}" font-size="15" font-weight="600">${escaped(title)}</text>`,
    ...rows,
    ...columns,
    ...curves,
    ...names,
    "</svg>",
  ].join("\n");
}

type Place = (value: number) => number;

/** Of the axis: all that is drawn is between them. */
function ends(lines: readonly DrawnLine[], share: boolean): readonly [low: number, high: number] {
  const values = lines.flatMap(({ values, measured = [], range }) =>
    [...values, ...measured, ...(range?.low ?? []), ...(range?.high ?? [])].filter((value) => value !== null),
  );
  if (values.length === 0) return [0, 1];
  const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  return low < high ? [low, high] : flatRange(low, share);
}

/** What was measured and how far it reaches, and the curve above them. */
function drawn(
  x: readonly number[],
  { values, measured, range, ink, marked = false }: DrawnLine,
  across: Place,
  up: Place,
): string {
  const curve = `<path d="${path(x, values, across, up)}" fill="none" stroke="${ink}" stroke-width="2"/>`;
  const behind = measured
    ? `<path d="${path(x, measured, across, up)}" fill="none" stroke="${ink}" stroke-opacity="0.35"/>`
    : "";
  if (!range) return behind + curve;
  const held = x.flatMap((at, i) => {
    const [low, high] = [range.low[i], range.high[i]];
    if (low == null || high == null) return [];
    return [{ x: across(at).toFixed(1), low: up(low).toFixed(1), high: up(high).toFixed(1) }];
  });
  if (held.length === 0) return behind + curve;
  if (marked) {
    const intervals = held.map(({ x, low, high }) => `M${x} ${low}L${x} ${high}`).join("");
    const points = x.flatMap((at, i) =>
      values[i] == null
        ? []
        : [`<circle cx="${across(at).toFixed(1)}" cy="${up(values[i]).toFixed(1)}" r="3" fill="${ink}"/>`],
    );
    return `${behind}<path d="${intervals}" fill="none" stroke="${ink}" stroke-width="1.5"/>${curve}${points.join("")}`;
  }
  const upper = held.map(({ x, high }) => `${x} ${high}`);
  const lower = held.toReversed().map(({ x, low }) => `${x} ${low}`);
  return `<path d="M${[...upper, ...lower].join("L")}Z" fill="${ink}" fill-opacity="0.2"/>${behind}${curve}`;
}

/** A gap is jumped over, as on the page. */
function path(x: readonly number[], values: readonly (number | null)[], across: Place, up: Place): string {
  const points = values.flatMap((value, i) =>
    value === null ? [] : [`${across(x[i] ?? 0).toFixed(1)} ${up(value).toFixed(1)}`],
  );
  return points.length === 0 ? "" : `M${points.join("L")}`;
}

/** The numbers of a chart, as rows of a file: of a line with a range, its ends too. */
export function chartRows(
  x: readonly number[],
  lines: readonly Pick<DrawnLine, "name" | "values" | "range">[],
): (string | number | null)[][] {
  const head = lines.flatMap(({ name, range }) => (range ? [name, `${name}, low`, `${name}, high`] : [name]));
  return [
    ["iteration", ...head],
    ...x.map((at, i) => [
      at,
      ...lines.flatMap(({ values, range }) => {
        const value = values[i] ?? null;
        return range ? [value, range.low[i] ?? null, range.high[i] ?? null] : [value];
      }),
    ]),
  ];
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (c) => entities[c] ?? c);
