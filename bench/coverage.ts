// How often the nominal 95 % intervals of off-policy estimates hold the true value, by situation and estimator.
//
//     node bench/coverage.ts [--simulations 200] [--seed 1] > bench/results/coverage.md
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { mean } from "../src/common/statistics/statistics.ts";
import { randomStream } from "../src/core/random.ts";
import { doublyRobust, weightedDoublyRobust } from "../src/offpolicy/doublyRobust.ts";
import { estimateValue } from "../src/offpolicy/estimate.ts";
import type { Estimator } from "../src/offpolicy/estimator.ts";
import { boundedInterval } from "../src/offpolicy/intervals.ts";
import { ips } from "../src/offpolicy/ips.ts";
import { clipped, switched } from "../src/offpolicy/limited.ts";
import { perDecision, weightedPerDecision } from "../src/offpolicy/perDecision.ts";
import { snips } from "../src/offpolicy/snips.ts";
import { regimes } from "./offpolicy/regimes.ts";
import { logged, type Regime } from "./offpolicy/world.ts";

/** What the intervals of one estimator came to in one regime. */
export interface Coverage {
  /** Share of simulations whose interval held the truth. */
  readonly held: number;
  /** Share of simulations whose verdict was to trust it, and of those the share that held the truth; NaN of none. */
  readonly trusted: number;
  readonly heldTrusted: number;
  /** Mean half width, and root mean square error of the estimate. */
  readonly halfWidth: number;
  readonly error: number;
}

export const estimators: Readonly<Record<string, Estimator>> = {
  ips,
  snips,
  perDecision,
  weightedPerDecision,
  doublyRobust,
  weightedDoublyRobust,
  "clipped at 10, doublyRobust": (samples, options) => doublyRobust(clipped(samples, 10), options),
  "switched at 10, doublyRobust": (samples, options) => doublyRobust(switched(samples, 10), options),
};

/** By estimator, and of the bounded interval where the range of the returns is known. */
export function coverage(
  regime: Regime,
  simulations: number,
  seed: number,
  tried: Readonly<Record<string, Estimator>> = estimators,
): Record<string, Coverage> {
  const seen = new Map<string, { held: number[]; trusted: boolean[]; half: number[]; square: number[] }>();
  const note = (
    name: string,
    of: { mean: number; low: number; high: number },
    truth: number,
    trusted: boolean,
  ) => {
    const at = seen.get(name) ?? { held: [], trusted: [], half: [], square: [] };
    seen.set(name, at);
    at.held.push(of.low <= truth && truth <= of.high ? 1 : 0);
    at.trusted.push(trusted);
    at.half.push((of.high - of.low) / 2);
    at.square.push((of.mean - truth) ** 2);
  };
  for (let i = 0; i < simulations; i++) {
    const { samples, truth } = logged(regime, randomStream(seed).split(regime.name, i));
    for (const [name, estimator] of Object.entries(tried)) {
      const { interval, trusted } = estimateValue(samples, { estimator });
      note(name, interval, truth, trusted);
    }
    if (regime.range) note("bounded", boundedInterval(samples, regime.range), truth, true);
  }
  return Object.fromEntries(
    [...seen].map(([name, { held, trusted, half, square }]) => [
      name,
      {
        held: mean(held),
        trusted: mean(trusted.map(Number)),
        heldTrusted: mean(held.filter((_, i) => trusted[i])),
        halfWidth: mean(half),
        error: Math.sqrt(mean(square)),
      },
    ]),
  );
}

const percent = (x: number): string => (Number.isNaN(x) ? "–" : `${(100 * x).toFixed(1)} %`);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { simulations: { type: "string", default: "200" }, seed: { type: "string", default: "1" } },
  });
  const [simulations, seed] = [Number(values.simulations), Number(values.seed)];
  console.log(`# Coverage of off-policy intervals

How often nominal 95 % intervals hold the true value, which is known exactly, in ${simulations} simulations of each situation
(seed ${seed}; the standard error of a share of 95 % is then ${percent(Math.sqrt((0.95 * 0.05) / simulations))}). *Trusted*: share of simulations in which the
diagnostics found no reason for doubt; what counts is how often the interval holds where they found none. *Bounded*: the
interval by betting, which claims to hold always, for returns of known range; for several sessions of a user it is not shown.
The models of rewards that the doubly robust estimates have are off by 0.1 everywhere.`);
  const within: [sound: number, of: number] = [0, 0];
  const outside: string[] = [];
  for (const regime of regimes) {
    console.error(regime.name);
    console.log(`
## ${regime.name}

${regime.trajectories} trajectories of ${regime.world.turns} ${regime.world.turns === 1 ? "turn" : "turns"}.

| estimator | holds the truth | trusted | holds it where trusted | half width | error |
| --- | --: | --: | --: | --: | --: |`);
    for (const [name, at] of Object.entries(coverage(regime, simulations, seed))) {
      const verdict =
        name === "bounded" ? "always | " : `${percent(at.trusted)} | ${percent(at.heldTrusted)}`;
      console.log(
        `| ${name} | ${percent(at.held)} | ${verdict} | ${at.halfWidth.toPrecision(2)} | ${at.error.toPrecision(2)} |`,
      );
      // a share of a handful of simulations is no measurement
      if (name === "bounded" || at.trusted * simulations < 40) continue;
      within[1]++;
      if (at.heldTrusted >= 0.9 && at.heldTrusted <= 0.98) within[0]++;
      else outside.push(`${regime.name}: ${name} ${percent(at.heldTrusted)}`);
    }
  }
  console.log(`
## In short

Where an estimate was trusted in at least 40 simulations, its interval held the truth 90 to 98 % of the time in ${within[0]} of
${within[1]} cases${outside.length > 0 ? `; not in ${outside.join("; ")}` : ""}.`);
}
