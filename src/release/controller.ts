/** Decides which versions serve traffic: reads served traffic and feedback, and writes splits. */
import { randomUUID } from "node:crypto";
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import { randomStream } from "../core/random.ts";
import type { TrafficSplit, Version } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { Estimate } from "../offpolicy/estimate.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import { type BanditOptions, thompsonSplit } from "./bandit.ts";
import type { Decision } from "./decision.ts";
import { evaluation, liveValue } from "./evaluation.ts";
import { defaultGuardrails, type Guardrail } from "./guardrails.ts";
import type { Reward } from "./liveData.ts";
import { requireTrafficSplit } from "./trafficSplit.ts";

/** Default feedback window in milliseconds. */
export const usualWindow = 3_600_000;

/** Settings of {@link releaseController}. */
export interface ReleaseControllerOptions {
  readonly production: TrafficStore;
  /** Default: the mean of all values on all channels. */
  readonly reward?: Reward;
  /** Range of a reward. Default [0, 1], as thumbs, ratings and outcomes arrive. `undefined`: unbounded. */
  readonly range?: readonly [low: number, high: number] | undefined;
  /** Default {@link defaultGuardrails}. */
  readonly guardrails?: readonly Guardrail[];
  /** Feedback window: milliseconds after a unit's first response in which its feedback counts. Default one hour. */
  readonly window?: number;
  /**
   * Milliseconds after a unit's first response in which its responses count for guardrails; they are evaluated after it.
   * Default one minute, but at most the window.
   */
  readonly settling?: number;
  /** Error level, see {@link sequentialDecision}. It is divided among several candidates. Default 0.05. */
  readonly level?: number;
  readonly minimumEffect?: number;
  readonly now?: () => number;
}

/** One version of the current split. */
export interface LiveVersion {
  readonly version: Id;
  readonly name: string;
  readonly share: number;
  /** Number of units whose windows have closed, and of those whose windows are still open. */
  readonly units: number;
  readonly open: number;
  /** Self-normalised by propensity, over closed units with a reward; its interval is valid for one look. Absent: no rewards. */
  readonly estimate?: Estimate;
}

/** The current split and its evaluation. */
export interface ReleaseState {
  readonly split?: TrafficSplit;
  /** The version that candidates are compared with: the one that has been live longest. */
  readonly baseline?: Id;
  readonly live: readonly LiveVersion[];
  readonly judgements: readonly (Decision & { readonly version: Id })[];
}

/**
 * Reports how the live versions compare and changes their shares of traffic. Every change, with its reason, is written as
 * a new split.
 */
export interface ReleaseController {
  /** @param options `estimates`: includes the live versions' values, the most expensive part with many units. Default true. */
  state(options?: { readonly estimates?: boolean }): Promise<ReleaseState>;
  /** @throws WhetstoneError for invalid shares or unknown versions. */
  split(
    shares: Readonly<Record<Id, number>>,
    why: string,
    unit?: TrafficSplit["unit"],
  ): Promise<TrafficSplit>;
  /** All traffic to one version. */
  promote(version: Id, why: string): Promise<TrafficSplit>;
  /** Records the decision; shares stay as they are. */
  hold(why: string): Promise<TrafficSplit>;
  /** Distributes a version's share to the others in proportion. With two versions, the other gets all traffic. */
  rollBack(version: Id, why: string): Promise<TrafficSplit>;
  /** Sets the shares by {@link thompsonSplit} from the rewards under the current ones. */
  rebalance(options?: Partial<Pick<BanditOptions, "floor">>): Promise<TrafficSplit>;
}

const sameShares = (a: TrafficSplit, b: TrafficSplit): boolean =>
  a.unit === b.unit &&
  Object.keys(a.shares).length === Object.keys(b.shares).length &&
  Object.entries(a.shares).every(([version, share]) => b.shares[version] === share);

/** The last split and the preceding ones with the same shares: their units are pooled. */
function currentSeries(splits: readonly TrafficSplit[]): TrafficSplit[] {
  const last = splits.at(-1);
  const from = splits.findLastIndex((split) => last && !sameShares(split, last)) + 1;
  return splits.slice(from);
}

/** The live version that entered the splits first and has stayed since. */
function baselineOf(splits: readonly TrafficSplit[]): Id | undefined {
  const live = Object.keys(splits.at(-1)?.shares ?? {});
  const since = (version: Id): number =>
    splits.findLastIndex((split) => split.shares[version] === undefined) + 1;
  const largest = (version: Id): number => splits[since(version)]?.shares[version] ?? 0;
  return live.sort((a, b) => since(a) - since(b) || largest(b) - largest(a) || (a < b ? -1 : 1))[0];
}

/** Reads served traffic and writes splits. A new split takes effect within two seconds, wherever the gateway runs. */
export function releaseController(options: ReleaseControllerOptions): ReleaseController {
  const {
    production,
    guardrails = defaultGuardrails,
    level = 0.05,
    minimumEffect = 0,
    now = Date.now,
  } = options;
  const range = "range" in options ? options.range : ([0, 1] as const);
  const { window = usualWindow } = options;

  async function write(split: Omit<TrafficSplit, "id" | "since">): Promise<TrafficSplit> {
    const known = (await production.versions()).map((v) => v.id);
    const stranger = Object.keys(split.shares).find((id) => !known.includes(id));
    if (stranger !== undefined) throw unknownName("split", stranger, known);
    const made: TrafficSplit = {
      id: randomUUID(),
      since: now(),
      ...split,
      shares: requireTrafficSplit("split", split.shares),
    };
    await production.addSplit(made);
    return made;
  }

  async function current(): Promise<TrafficSplit> {
    const split = (await production.splits()).at(-1);
    if (split) return split;
    throw new WhetstoneError("config.invalid", {
      where: "release",
      got: "a store without a split",
      expected: "shares of versions",
      fix: "Begin with: whetstone versions split VERSION=1",
    });
  }

  const { read, decide } = evaluation({ ...options, guardrails, window, range, minimumEffect, now });

  return {
    async state({ estimates = true } = {}) {
      const splits = await production.splits();
      const split = splits.at(-1);
      const baseline = baselineOf(splits);
      if (!split || baseline === undefined) return { live: [], judgements: [] };
      const names = new Map((await production.versions()).map((v: Version) => [v.id, v.name]));
      const data = await read(currentSeries(splits));
      const { closed, open } = data;
      const versions = Object.keys(split.shares);
      const candidates = versions.filter((version) => version !== baseline);
      const judgements: ReleaseState["judgements"][number][] = [];
      for (const version of candidates) {
        judgements.push({
          version,
          ...(await decide(data, baseline, version, level / candidates.length)),
        });
      }
      return {
        split,
        baseline,
        live: versions.map((version): LiveVersion => {
          const estimate = estimates ? liveValue(closed, version, range) : undefined;
          return {
            version,
            name: names.get(version) ?? version,
            share: split.shares[version]!,
            units: closed.filter((unit) => unit.version === version).length,
            open: open[version] ?? 0,
            ...(estimate ? { estimate } : {}),
          };
        }),
        judgements,
      };
    },
    split: async (shares, why, unit = "session") => write({ shares, why, unit }),
    promote: async (version, why) => {
      const unit = (await production.splits()).at(-1)?.unit ?? "session";
      return write({ shares: { [version]: 1 }, unit, why });
    },
    hold: async (why) => {
      const { shares, unit } = await current();
      return write({ shares, unit, why });
    },
    rollBack: async (version, why) => {
      const { shares, unit } = await current();
      const left = Object.entries(shares).filter(([other]) => other !== version);
      if (left.length === Object.keys(shares).length)
        throw unknownName("roll back", version, Object.keys(shares));
      const sum = left.reduce((so, [, share]) => so + share, 0);
      if (left.length === 0) {
        throw new WhetstoneError("option.range", {
          where: "roll back",
          got: `${version}, the only version in the split`,
          expected: "a split with another version that can take over",
          fix: "Promote the version that should answer instead.",
        });
      }
      return write({ shares: Object.fromEntries(left.map(([v, share]) => [v, share / sum])), unit, why });
    },
    async rebalance({ floor = 0.05 } = {}) {
      const splits = await production.splits();
      const { shares, unit } = await current();
      const series = splits.slice(splits.findLastIndex((s) => !sameVersions(s.shares, shares)) + 1);
      const { closed } = await read(series);
      const seen = Object.keys(shares).map((version) => ({
        version,
        rewards: closed.flatMap((u) => (u.version === version && u.reward !== undefined ? [u.reward] : [])),
      }));
      const random = randomStream("bandit").split(splits.length);
      const next = thompsonSplit(seen, { floor, range, random });
      return write({
        shares: next,
        unit,
        why: `bandit: shares by ${closed.length} units, none below ${floor}`,
      });
    },
  };
}

const sameVersions = (a: TrafficSplit["shares"], b: TrafficSplit["shares"]): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((version) => version in b);
