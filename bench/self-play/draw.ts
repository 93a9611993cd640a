/** Small panels of curves as one SVG, readable on light and dark ground. */

/** A curve: its values at equal steps. */
export interface Line {
  readonly name: string;
  readonly ys: readonly number[];
}

const colours = ["#d62728", "#ff9f1c", "#bc8f00", "#8c5fd0", "#2a9d8f", "#1f77d4"];
const [wide, high, left, top, bottom] = [330, 180, 44, 26, 26];

/** Two panels to a row, and a legend below. Each has its own scale from 0. @param most the value of the last step. */
export function panels(
  all: readonly { readonly title: string; readonly lines: readonly Line[] }[],
  most: number,
): string {
  const rows = Math.ceil(all.length / 2);
  const names = all[0]!.lines.map(({ name }) => name);
  const legendAt = rows * (high + top + bottom) + 16;
  const legend = names.map((name, i) => {
    const [x, y] = [left + (i % 3) * 235, legendAt + Math.floor(i / 3) * 20];
    return `<line x1="${x}" y1="${y - 4}" x2="${x + 22}" y2="${y - 4}" stroke="${colours[i]}" stroke-width="2"/><text x="${x + 28}" y="${y}">${name}</text>`;
  });
  const body = all.map(({ title, lines }, p) => {
    const x0 = left + (p % 2) * (wide + left + 10);
    const y0 = top + Math.floor(p / 2) * (high + top + bottom);
    const highest = Math.max(...lines.flatMap(({ ys }) => ys));
    const y = (value: number): string => (y0 + high - (value / highest) * high).toFixed(1);
    const curves = lines.map(({ ys }, i) => {
      const points = ys.map((value, k) => `${(x0 + ((k + 1) / ys.length) * wide).toFixed(1)},${y(value)}`);
      return `<polyline fill="none" stroke="${colours[i]}" stroke-width="1.6" points="${points.join(" ")}"/>`;
    });
    const ticks = [0, 0.5, 1].map(
      (share) =>
        `<text x="${x0 - 6}" y="${Number(y(share * highest)) + 4}" text-anchor="end">${(share * highest).toFixed(2)}</text>`,
    );
    return [
      `<text x="${x0}" y="${y0 - 8}" font-weight="bold">${title}</text>`,
      `<path d="M${x0} ${y0}V${y0 + high}H${x0 + wide}" fill="none" stroke="#777"/>`,
      `<text x="${x0 + wide}" y="${y0 + high + 16}" text-anchor="end">${most} iterations</text>`,
      ...ticks,
      ...curves,
    ].join("\n");
  });
  const [width, height] = [2 * (wide + left + 10) + 10, legendAt + 20 * Math.ceil(names.length / 3)];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#777">\n<title>Curves of exploitability over training</title>\n${[...body, ...legend].join("\n")}\n</svg>\n`;
}
