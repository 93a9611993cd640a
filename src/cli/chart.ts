/** Curves in a terminal. */

const eighths = " ▁▂▃▄▅▆▇█";

/** At most `width` numbers: means of equal stretches. Numbers that are not finite are left out. */
export function condense(values: readonly number[], width: number): number[] {
  const finite = values.filter(Number.isFinite);
  if (finite.length <= width) return finite;
  return Array.from({ length: width }, (_, i) => {
    const from = Math.floor((i * finite.length) / width);
    const part = finite.slice(from, Math.max(from + 1, Math.floor(((i + 1) * finite.length) / width)));
    return part.reduce((a, b) => a + b, 0) / part.length;
  });
}

/** One line of bars, from the least to the most. */
export function sparkline(values: readonly number[], width: number): string {
  const points = condense(values, width);
  const low = Math.min(...points);
  const range = Math.max(...points) - low;
  return points.map((v) => eighths[range === 0 ? 4 : 1 + Math.round((7 * (v - low)) / range)]).join("");
}

/** Several lines of bars with the scale at the left. */
export function curve(values: readonly number[], width: number, height = 6): string[] {
  const points = condense(values, Math.max(8, width - 10));
  if (points.length === 0) return [];
  const low = Math.min(...points);
  const high = Math.max(...points);
  const range = high - low || 1;
  const label = (x: number): string => String(Number(x.toPrecision(4))).padStart(8);
  return Array.from({ length: height }, (_, row) => {
    const floor = height - 1 - row;
    const bars = points.map((v) => {
      const filled = (high === low ? 0.5 : (v - low) / range) * (height * 8 - 1) + 1;
      return eighths[Math.max(0, Math.min(8, Math.round(filled - floor * 8)))];
    });
    const scale = row === 0 ? label(high) : floor === 0 ? label(low) : " ".repeat(8);
    return `${scale} ${row === 0 || floor === 0 ? "┤" : "│"}${bars.join("")}`.trimEnd();
  });
}
