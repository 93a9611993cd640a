/** Success over the blocks of a run, side by side: darker is more, grey is none, a gap was not trained on. */
import { percent } from "./words.ts";

export function Strip({ shares }: { readonly shares: readonly (number | null)[] }) {
  const known = shares.filter((share) => share !== null);
  const said =
    known.length === 0
      ? "no success is known"
      : `success from ${percent(known[0]!)} to ${percent(known.at(-1)!)} in ${known.length} stretches`;
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${shares.length} 1`}
      preserveAspectRatio="none"
      role="img"
      aria-label={said}
    >
      {shares.map((share, i) =>
        share === null ? null : (
          <rect
            key={i}
            x={i}
            y="0"
            width="0.9"
            height="1"
            class={share === 0 ? "none" : "some"}
            opacity={share === 0 ? 0.35 : 0.2 + 0.8 * share}
          />
        ),
      )}
    </svg>
  );
}
