/** True utility by round: a line for each learner with its interval, one panel. */
import type { Interval } from "../../src/core/interval.ts";

export interface Line {
  readonly name: string;
  /** By round, in [0, 1]. */
  readonly at: readonly Interval[];
}

const [width, height, left, top, right, foot] = [560, 260, 46, 44, 16, 40];
/** Distinguishable for the colour-blind, on light and dark ground. */
const colours = ["#d55e00", "#0072b2", "#009e73", "#cc79a7"];
const tidy = (x: number): string => String(Math.round(10 * x) / 10);

/** @param label what the picture says, for those who cannot see it. */
export function chart(lines: readonly Line[], label: string): string {
  const rounds = Math.max(...lines.map(({ at }) => at.length)) - 1;
  const x = (round: number): string => tidy(left + ((width - left - right) * round) / rounds);
  const y = (value: number): string =>
    tidy(top + (height - top - foot) * (1 - Math.min(1, Math.max(0, value))));
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (at) =>
      `<path class="grid" d="M${left} ${y(at)}H${width - right}"/><text class="tick" x="${left - 6}" y="${y(at)}" dy="4" text-anchor="end">${at}</text>`,
  );
  const ticks = Array.from(
    { length: rounds + 1 },
    (_, r) =>
      `<text class="tick" x="${x(r)}" y="${height - foot + 16}" text-anchor="middle">${r === rounds ? "after" : r === 0 ? "before" : r}</text>`,
  );
  const drawn = lines.map(({ name, at }, i) => {
    const colour = colours[i % colours.length]!;
    const path = at.map(({ mean }, r) => `${x(r)} ${y(mean)}`).join("L");
    const upper = at.map(({ high }, r) => `${x(r)} ${y(high)}`);
    const lower = at.map(({ low }, r) => `${x(r)} ${y(low)}`).reverse();
    const at0 = left + (i * (width - left)) / lines.length;
    return [
      `<path d="M${[...upper, ...lower].join("L")}Z" fill="${colour}" fill-opacity="0.15"/>`,
      `<path d="M${path}" stroke="${colour}" stroke-width="2" fill="none"/>`,
      `<path d="M${tidy(at0)} 18h22" stroke="${colour}" stroke-width="2"/><text x="${tidy(at0 + 27)}" y="22">${name}</text>`,
    ].join("\n");
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-sans-serif, system-ui, sans-serif" font-size="12" role="img" aria-label="${label}">
<style>
text { fill: #1f2328 } .tick { fill: #57606a; font-size: 10.5px } .grid { stroke: #d0d7de; stroke-width: 1 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .tick { fill: #8b949e } .grid { stroke: #30363d } }
</style>
${[...grid, ...ticks, ...drawn].join("\n")}
<text class="tick" x="${(width + left) / 2}" y="${height - 6}" text-anchor="middle">round</text>
</svg>
`;
}
