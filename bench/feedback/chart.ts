/** Success against feedback as small panels, one row for each environment and one column for each accuracy. */

/** One line: mean success in 0…1 by feedback. */
export interface Line {
  readonly name: string;
  readonly dashed: boolean;
  readonly points: readonly (readonly [feedback: number, success: number])[];
}

export interface Panel {
  readonly title: string;
  readonly budget: number;
  readonly lines: readonly Line[];
}

const [panelWidth, panelHeight, gap, left, top, foot] = [250, 150, 46, 46, 58, 34];
/** By the order of names: distinguishable for the colour-blind, on light and dark ground. */
const colours = ["#7d8590", "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7"];

const tidy = (x: number): string => String(Math.round(10 * x) / 10);
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** @param rows of panels; the lines' names, in the order of their first appearance, make the legend. */
export function chart(rows: readonly (readonly Panel[])[]): string {
  const names = [...new Set(rows.flat().flatMap(({ lines }) => lines.map(({ name }) => name)))];
  const columns = Math.max(...rows.map((row) => row.length));
  const width = left + columns * panelWidth + (columns - 1) * gap + 16;
  const height = top + rows.length * (panelHeight + gap) + foot - gap + 8;
  const colourOf = (name: string): string => colours[names.indexOf(name) % colours.length]!;
  const dashed = new Set(
    rows.flat().flatMap(({ lines }) => lines.flatMap((line) => (line.dashed ? [line.name] : []))),
  );
  const stroke = (name: string): string =>
    `stroke="${colourOf(name)}" stroke-width="2" fill="none"${dashed.has(name) ? ' stroke-dasharray="5 3"' : ""}`;

  const legend = names.map((name, i) => {
    const x = left + (i * (width - left)) / names.length;
    return `<path d="M${tidy(x)} 14h22" ${stroke(name)}/><text x="${tidy(x + 27)}" y="18">${escaped(name)}</text>`;
  });
  const panels = rows.flatMap((row, r) =>
    row.map((panel, c) => {
      const [x0, y0] = [left + c * (panelWidth + gap), top + r * (panelHeight + gap)];
      const x = (feedback: number): number => x0 + (panelWidth * feedback) / panel.budget;
      const y = (success: number): number => y0 + panelHeight * (1 - success);
      const grid = [0, 0.5, 1].map(
        (at) =>
          `<path class="grid" d="M${x0} ${tidy(y(at))}h${panelWidth}"/><text class="tick" x="${x0 - 6}" y="${tidy(y(at) + 4)}" text-anchor="end">${100 * at} %</text>`,
      );
      const ticks = [0, 0.5, 1].map(
        (part) =>
          `<text class="tick" x="${tidy(x(part * panel.budget))}" y="${y0 + panelHeight + 15}" text-anchor="middle">${part * panel.budget}</text>`,
      );
      const lines = panel.lines.map(({ name, points }) => {
        const path = points
          .map(([feedback, success]) => `${tidy(x(feedback))} ${tidy(y(success))}`)
          .join("L");
        return `<path d="M${path}" ${stroke(name)}/>`;
      });
      return [
        `<text x="${x0}" y="${y0 - 8}">${escaped(panel.title)}</text>`,
        ...grid,
        ...ticks,
        ...lines,
      ].join("\n");
    }),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-sans-serif, system-ui, sans-serif" font-size="12" role="img" aria-label="Success without advice against feedback spent, by environment and accuracy of the critiquer.">
<style>
text { fill: #1f2328 } .tick { fill: #57606a; font-size: 10.5px } .grid { stroke: #d0d7de; stroke-width: 1 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .tick { fill: #8b949e } .grid { stroke: #30363d } }
</style>
${legend.join("\n")}
${panels.join("\n")}
</svg>
`;
}
