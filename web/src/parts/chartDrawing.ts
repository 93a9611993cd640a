/** A chart of curves as a drawing for a file: what the page draws on a canvas, as SVG. */

export interface DrawnLine {
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly ink: string;
}

interface Drawing {
  readonly title: string;
  readonly x: readonly number[];
  readonly lines: readonly DrawnLine[];
  /** Colours as a file can have them. */
  readonly ink: { readonly text: string; readonly line: string; readonly ground: string };
  readonly words: (value: number) => string;
}

export const [drawnWidth, drawnHeight] = [760, 360];
const [left, right, top, bottom] = [64, 16, 36, 40];

/** Linear axes, five marks on each. @returns an SVG document. */
export function chartDrawing({ title, x, lines, ink, words }: Drawing): string {
  const values = lines.flatMap((line) => line.values.filter((value) => value !== null));
  const [low, high] = values.length > 0 ? [Math.min(...values), Math.max(...values)] : [0, 1];
  const span = high > low ? high - low : 1;
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
  const curves = lines.map(
    (line) =>
      `<path d="${path(x, line.values, across, up)}" fill="none" stroke="${line.ink}" stroke-width="2"/>`,
  );
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

/** A gap is jumped over, as on the page. */
function path(
  x: readonly number[],
  values: readonly (number | null)[],
  across: (at: number) => number,
  up: (value: number) => number,
): string {
  const points = values.flatMap((value, i) =>
    value === null ? [] : [`${across(x[i] ?? 0).toFixed(1)} ${up(value).toFixed(1)}`],
  );
  return points.length === 0 ? "" : `M${points.join("L")}`;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (c) => entities[c] ?? c);
