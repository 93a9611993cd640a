/** Where it is decided which versions answer: reads what was served and said, and writes splits. */
import { randomUUID } from "node:crypto";
import { setImmediate as others } from "node:timers/promises";
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import { randomStream } from "../core/random.ts";
import type { Split, Version } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import { type Estimate, estimateValue } from "../offpolicy/estimate.ts";
import { versionRatio } from "../offpolicy/sample.ts";
import type { Production } from "../store/production.ts";
import { type BanditOptions, thompsonShares } from "./bandit.ts";
import { type Evidence, gatherEvidence, meanValue, type Reward, type UnitEvidence } from "./evidence.ts";
import { defaultGuardrails, type Guardrail } from "./guardrails.ts";
import { checkShares } from "./trafficSplit.ts";
import { type Judgement, judge } from "./verdict.ts";

/** Milliseconds. */
export const usualWindow = 3_600_000;

/** Settings of {@link releaseDesk}. */
export interface DeskOptions {
  readonly production: Production;
  /** Default: the mean of all values given on any channel. */
  readonly reward?: Reward;
  /** What a reward can be. Default [0, 1], as thumbs, ratings and outcomes arrive. `undefined`: without bounds. */
  readonly range?: readonly [low: number, high: number] | undefined;
  /** Default {@link defaultGuardrails}. */
  readonly guardrails?: readonly Guardrail[];
  /** Milliseconds that a unit's feedback may take. Default one hour. */
  readonly window?: number;
  /**
   * Milliseconds after a unit's first response within which its responses count for guardrails, and after which they do.
   * Default one minute, the window at most.
   */
  readonly settling?: number;
  /** See {@link judge}. With several candidates each gets its part. Default 0.05. */
  readonly level?: number;
  readonly minimumEffect?: number;
  readonly now?: () => number;
}

/** One version of the current split. */
export interface LiveVersion {
  readonly version: Id;
  readonly name: string;
  readonly share: number;
  /** Units whose windows have closed, and that are still open. */
  readonly units: number;
  readonly open: number;
  /** Self-normalised, by propensity, over closed units with a reward: an interval for one look. Absent: no rewards. */
  readonly estimate?: Estimate;
}

/** What is live and what is to be thought of it. */
export interface ReleaseState {
  readonly split?: Split;
  /** The version that candidates are compared with: of those live, the one that has been so for the longest. */
  readonly baseline?: Id;
  readonly live: readonly LiveVersion[];
  readonly judgements: readonly (Judgement & { readonly version: Id })[];
}

export interface ReleaseDesk {
  /** @param options `estimates`: of the live versions' values too, which cost the most where units are many. Default true. */
  state(options?: { readonly estimates?: boolean }): Promise<ReleaseState>;
  /** @throws WhetstoneError for shares that are none, or of versions that are not known. */
  split(shares: Readonly<Record<Id, number>>, why: string, unit?: Split["unit"]): Promise<Split>;
  /** All traffic to one version. */
  promote(version: Id, why: string): Promise<Split>;
  /** Shares stay as they are; that it was decided is on record. */
  hold(why: string): Promise<Split>;
  /** A version's share goes to the others in proportion. Of two, that is the way back to the other. */
  rollBack(version: Id, why: string): Promise<Split>;
  /** Shares by what was seen under the current ones: {@link thompsonShares}. */
  rebalance(options?: Partial<Pick<BanditOptions, "floor">>): Promise<Split>;
}

/** Units judged before whoever else the process serves has a turn: one or two milliseconds. */
const atOnce = 64;

const sameShares = (a: Split, b: Split): boolean =>
  a.unit === b.unit &&
  Object.keys(a.shares).length === Object.keys(b.shares).length &&
  Object.entries(a.shares).every(([version, share]) => b.shares[version] === share);

/** The last split and those before it that only say the same again: their evidence belongs together. */
function currentSeries(splits: readonly Split[]): Split[] {
  const last = splits.at(-1);
  const from = splits.findLastIndex((split) => last && !sameShares(split, last)) + 1;
  return splits.slice(from);
}

/** Of the live versions the one that entered the splits first and has stayed since. */
function baselineOf(splits: readonly Split[]): Id | undefined {
  const live = Object.keys(splits.at(-1)?.shares ?? {});
  const since = (version: Id): number =>
    splits.findLastIndex((split) => split.shares[version] === undefined) + 1;
  const largest = (version: Id): number => splits[since(version)]?.shares[version] ?? 0;
  return live.sort((a, b) => since(a) - since(b) || largest(b) - largest(a) || (a < b ? -1 : 1))[0];
}

/** Reads and decides; a split that it writes counts within two seconds, wherever the gateway runs. */
export function releaseDesk(options: DeskOptions): ReleaseDesk {
  const {
    production,
    guardrails = defaultGuardrails,
    level = 0.05,
    minimumEffect = 0,
    now = Date.now,
  } = options;
  const range = "range" in options ? options.range : ([0, 1] as const);
  const { window = usualWindow } = options;

  async function write(split: Omit<Split, "id" | "since">): Promise<Split> {
    const known = (await production.versions()).map((v) => v.id);
    const stranger = Object.keys(split.shares).find((id) => !known.includes(id));
    if (stranger !== undefined) throw unknownName("split", stranger, known);
    const made: Split = {
      id: randomUUID(),
      since: now(),
      ...split,
      shares: checkShares("split", split.shares),
    };
    await production.addSplit(made);
    return made;
  }

  async function current(): Promise<Split> {
    const split = (await production.splits()).at(-1);
    if (split) return split;
    throw new WhetstoneError("config.invalid", {
      where: "release",
      got: "a store without a split",
      expected: "shares of versions",
      mend: "Begin with: whetstone versions split VERSION=1",
    });
  }

  const { reward = meanValue() } = options;
  /** Anybody may send any number; one that cannot be compared must not keep the others, or harm, from being seen. */
  const isOutside = (value: number): boolean =>
    range !== undefined && !(value >= range[0] && value <= range[1]);

  async function evidenceOf(splits: readonly Split[]): Promise<Evidence & { readonly doubts: string[] }> {
    let outside = 0;
    const evidence = await gatherEvidence(production, {
      splits,
      guardrails,
      reward: (signals) => {
        const value = reward(signals);
        if (value === undefined || !isOutside(value)) return value;
        outside++;
        return undefined;
      },
      window,
      settling: options.settling ?? Math.min(60_000, window),
      now: now(),
    });
    const doubt = `${outside} units have a reward outside of ${range?.[0]} to ${range?.[1]} and are left out of the means: state the range`;
    return { ...evidence, doubts: outside > 0 ? [doubt] : [] };
  }

  /** Responses are judged once they are there; what people say of them, once they had their time. */
  async function judged(
    { settled, closed, doubts }: Awaited<ReturnType<typeof evidenceOf>>,
    baseline: Id,
    candidate: Id,
    part: number,
  ): Promise<Judgement> {
    const evidence = judge({ guardrails, range, level: part, minimumEffect });
    const armOf = (version: Id) =>
      version === candidate ? "candidate" : version === baseline ? "baseline" : undefined;
    for (const [i, { version, measures }] of settled.entries()) {
      if (i % atOnce === 0) await others();
      const arm = armOf(version);
      if (arm) evidence.see({ arm, measures, early: true });
    }
    for (const [i, { version, measures, reward }] of closed.entries()) {
      if (i % atOnce === 0) await others();
      const arm = armOf(version);
      if (arm) evidence.see({ arm, measures, ...(reward === undefined ? {} : { reward }) });
    }
    const judgement = evidence.judgement();
    return { ...judgement, doubts: [...judgement.doubts, ...doubts] };
  }

  return {
    async state({ estimates = true } = {}) {
      const splits = await production.splits();
      const split = splits.at(-1);
      const baseline = baselineOf(splits);
      if (!split || baseline === undefined) return { live: [], judgements: [] };
      const names = new Map((await production.versions()).map((v: Version) => [v.id, v.name]));
      const evidence = await evidenceOf(currentSeries(splits));
      const { closed, open } = evidence;
      const versions = Object.keys(split.shares);
      const candidates = versions.filter((version) => version !== baseline);
      const judgements: ReleaseState["judgements"][number][] = [];
      for (const version of candidates) {
        judgements.push({
          version,
          ...(await judged(evidence, baseline, version, level / candidates.length)),
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
          got: `${version}, which answers alone`,
          expected: "a split with another version that can take over",
          mend: "Promote the version that is to answer in its place.",
        });
      }
      return write({ shares: Object.fromEntries(left.map(([v, share]) => [v, share / sum])), unit, why });
    },
    async rebalance({ floor = 0.05 } = {}) {
      const splits = await production.splits();
      const { shares, unit } = await current();
      const series = splits.slice(splits.findLastIndex((s) => !sameVersions(s.shares, shares)) + 1);
      const { closed } = await evidenceOf(series);
      const seen = Object.keys(shares).map((version) => ({
        version,
        rewards: closed.flatMap((u) => (u.version === version && u.reward !== undefined ? [u.reward] : [])),
      }));
      const random = randomStream("bandit").split(splits.length);
      const next = thompsonShares(seen, { floor, range, random });
      return write({
        shares: next,
        unit,
        why: `bandit: shares by ${closed.length} units, none below ${floor}`,
      });
    },
  };
}

const sameVersions = (a: Split["shares"], b: Split["shares"]): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((version) => version in b);

/** Self-normalised over all units with a reward: what the version would earn if it answered everybody. */
function liveValue(
  closed: readonly UnitEvidence[],
  version: Id,
  range: readonly [number, number] | undefined,
): Estimate | undefined {
  const samples = closed.flatMap(({ unit, version: answered, propensity, reward }) =>
    reward === undefined
      ? []
      : [{ cluster: unit, ratios: [versionRatio(version, answered, propensity)], rewards: [reward] }],
  );
  return samples.some((s) => s.ratios[0]! > 0) ? estimateValue(samples, range ? { range } : {}) : undefined;
}
