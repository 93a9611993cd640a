/** Which versions were live when, and with which share of the traffic. */

import { useRef } from "preact/hooks";
import type { TrafficSplit } from "../../../src/core/served.ts";
import { drawnAlone } from "./drawn.ts";
import { lineInks } from "./ink.ts";
import { SaveDrawing } from "./saveChart.tsx";
import { digits, moment } from "./words.ts";

const [width, height] = [1000, 60];

interface TimelineProps {
  /** Oldest first, at least one. */
  readonly splits: readonly TrafficSplit[];
  readonly nameOf: (version: string) => string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export function Timeline({ splits, nameOf, now }: TimelineProps) {
  const first = splits[0]?.since ?? now;
  const x = (at: number): number => ((at - first) / Math.max(1, now - first)) * width;
  const versions = [...new Set(splits.flatMap(({ shares }) => Object.keys(shares)))];
  const inkOf = (version: string) => lineInks[versions.indexOf(version) % lineInks.length]!;
  const ink = (version: string): string => `var(${inkOf(version)})`;
  const drawing = useRef<SVGSVGElement>(null);
  const label = splits
    .map(
      ({ since, shares }) => `from ${moment(new Date(since).toISOString())} ${sharesWords(shares, nameOf)}`,
    )
    .join("; ");
  return (
    <figure class="timeline">
      <svg
        ref={drawing}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        {splits.map(({ id, since, shares }, i) => {
          const until = splits[i + 1]?.since ?? now;
          let above = 0;
          return versions.map((version) => {
            const share = shares[version] ?? 0;
            const y = above;
            above += share;
            return (
              <rect
                key={`${id} ${version}`}
                x={x(since)}
                width={Math.max(2, x(until) - x(since))}
                y={y * height}
                height={share * height}
                fill={ink(version)}
              />
            );
          });
        })}
      </svg>
      <figcaption class="legend">
        <span class="entry faint">{moment(new Date(first).toISOString())} to now</span>
        {versions.map((version) => (
          <span key={version} class="entry">
            <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
              <rect width="10" height="10" rx="2" fill={ink(version)} />
            </svg>
            {nameOf(version)}
          </span>
        ))}
      </figcaption>
      <SaveDrawing
        title="what was live"
        drawing={() =>
          drawnAlone(
            drawing.current!,
            `What was live, ${moment(new Date(first).toISOString())} to ${moment(new Date(now).toISOString())}`,
            versions.map((version) => ({ name: nameOf(version), ink: inkOf(version) })),
          )
        }
        numbers={() => [
          ["since", "version", "share"],
          ...splits.flatMap(({ since, shares }) =>
            Object.entries(shares).map(([version, share]) => [
              new Date(since).toISOString(),
              nameOf(version),
              share,
            ]),
          ),
        ]}
      />
    </figure>
  );
}

const sharesWords = (shares: TrafficSplit["shares"], nameOf: (version: string) => string): string =>
  Object.entries(shares)
    .map(([version, share]) => `${nameOf(version)} ${digits(100 * share)} %`)
    .join(", ");
