/** Lines over two logarithmic axes, as SVG. */
export interface Line {
  readonly name: string;
  readonly points: readonly {
    readonly x: number;
    readonly y: number;
    readonly low: number;
    readonly high: number;
  }[];
}

const [width, height, left, right, top, bottom] = [720, 380, 60, 130, 20, 46];
const colours = ["#b8542a", "#2a6fb8", "#2c8a57", "#7a4fb5"];

export function drawn(lines: readonly Line[], labels: { readonly x: string; readonly y: string }): string {
  const all = lines.flatMap(({ points }) => points);
  const axis = (values: readonly number[], from: number, to: number) => {
    const [low, high] = [Math.min(...values), Math.max(...values)].map(Math.log2) as [number, number];
    return (v: number): number => from + ((Math.log2(v) - low) / Math.max(1e-9, high - low)) * (to - from);
  };
  const x = axis(
    all.map((p) => p.x),
    left,
    width - right,
  );
  const y = axis(
    all.flatMap((p) => [p.low, p.high]),
    height - bottom,
    top,
  );
  const text = (at: readonly [number, number], words: string, more = ""): string =>
    `<text x="${at[0].toFixed(1)}" y="${at[1].toFixed(1)}" ${more}>${words}</text>`;
  const ticks = (values: readonly number[]): number[] => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return Array.from({ length: 24 }, (_, i) => 2 ** i).filter((v) => v >= low && v <= high);
  };
  const body = [
    ...ticks(all.map((p) => p.x)).map((v) =>
      text([x(v), height - bottom + 18], `${v}`, 'text-anchor="middle"'),
    ),
    ...ticks(all.map((p) => p.y)).flatMap((v) => [
      text([left - 8, y(v) + 4], `${v}`, 'text-anchor="end"'),
      `<line x1="${left}" x2="${width - right}" y1="${y(v).toFixed(1)}" y2="${y(v).toFixed(1)}" stroke="#8884"/>`,
    ]),
    text([(left + width - right) / 2, height - 8], labels.x, 'text-anchor="middle"'),
    text([14, height / 2], labels.y, `text-anchor="middle" transform="rotate(-90 14 ${height / 2})"`),
    ...lines.flatMap(({ name, points }, i) => {
      const colour = colours[i % colours.length];
      const path = points.map((p) => `${x(p.x).toFixed(1)},${y(p.y).toFixed(1)}`).join(" ");
      const bars = points.map(
        (p) =>
          `<line x1="${x(p.x).toFixed(1)}" x2="${x(p.x).toFixed(1)}" y1="${y(p.low).toFixed(1)}" y2="${y(p.high).toFixed(1)}" stroke="${colour}"/>`,
      );
      const last = points.at(-1)!;
      return [
        `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...bars,
        text(
          [x(last.x) + 8, y(last.y) + 4 + 14 * (i - (lines.length - 1) / 2) * 0.6],
          name,
          `fill="${colour}"`,
        ),
      ];
    }),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#777">\n${body.join("\n")}\n</svg>\n`;
}
