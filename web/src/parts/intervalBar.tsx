/** A share with its interval on a line from 0 to 1; the words beside it say the same. */
import type { Range } from "../../../src/serve/dashboard/types.ts";

const [width, height] = [160, 16];

export function IntervalBar({ of: { mean, low, high } }: { readonly of: Range }) {
  const x = (share: number): number => 4 + Math.min(1, Math.max(0, share)) * (width - 8);
  const middle = height / 2;
  return (
    <svg
      class="interval-bar"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      aria-hidden="true"
    >
      <line x1={x(0)} x2={x(1)} y1={middle} y2={middle} class="rule" />
      {low !== null && high !== null && (
        <line x1={x(low)} x2={x(high)} y1={middle} y2={middle} class="interval" />
      )}
      {mean !== null && <circle cx={x(mean)} cy={middle} r="4" class="point" />}
    </svg>
  );
}
