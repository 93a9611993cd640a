/** Live evidence from the store: units, the versions that they were assigned, and their rewards. */
import { mapById } from "../common/mapById.ts";
import { reviewedSignal } from "../common/text/reviews.ts";
import type { ReceivedSignal, ServedResponse, Target, TrafficSplit } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import type { Guardrail } from "./guardrails.ts";
import { unitOf } from "./split.ts";

/** The reward of a unit from its signals. Undefined: no reward. */
export type Reward = (signals: readonly ReceivedSignal[]) => number | undefined;

/** Mean of the values of all signals on a channel, or on any. */
export const meanValue =
  (channel?: string): Reward =>
  (signals) => {
    let [sum, n] = [0, 0];
    for (const signal of signals) {
      if (signal.value === undefined || (channel !== undefined && signal.channel !== channel)) continue;
      sum += signal.value;
      n++;
    }
    return n > 0 ? sum / n : undefined;
  };

/** Evidence of one unit under a series of splits. */
export interface UnitData {
  readonly unit: Id;
  /** The first version it was assigned, which counts even if another answered later. */
  readonly version: Id;
  readonly propensity: number;
  /** Milliseconds since 1970 of its first response. */
  readonly first: number;
  readonly reward?: number;
  /** By guardrail over signals. */
  readonly measures: Readonly<Record<string, number>>;
}

/** Measures of a unit's responses. They do not wait for feedback. */
export interface SettledUnit {
  readonly version: Id;
  /** By guardrail over responses. */
  readonly measures: Readonly<Record<string, number>>;
}

export interface LiveDataOptions {
  /** One split, or several consecutive ones with the same shares. */
  readonly splits: readonly TrafficSplit[];
  readonly guardrails: readonly Guardrail[];
  readonly reward: Reward;
  /** Feedback window: milliseconds after its first response in which a unit's signals must arrive to count. */
  readonly window: number;
  /** Milliseconds after its first response in which a unit's responses count for guardrails. */
  readonly settling: number;
  readonly now: number;
}

/** What served traffic says about the versions, unit by unit. Units with an open window are only counted. */
export interface LiveData {
  /** Units that have settled, in order of their first response. */
  readonly settled: readonly SettledUnit[];
  /** Units whose windows have closed, in the same order. Their values are final. */
  readonly closed: readonly UnitData[];
  /** Number of units whose windows are still open, by version. */
  readonly open: Readonly<Record<Id, number>>;
}

interface Gathering {
  readonly unit: Id;
  readonly version: Id;
  readonly propensity: number;
  readonly first: number;
  readonly sums: Map<string, { sum: number; n: number }>;
  readonly signals: ReceivedSignal[];
}

/**
 * Reads the responses under the splits and their signals up to the end of each window, by time of arrival, so that a late
 * signal cannot change results that were already looked at. Reviews of feedback do not count as feedback on a version. Only
 * ids and numbers of responses are kept, no text.
 */
export async function readLiveData(production: TrafficStore, options: LiveDataOptions): Promise<LiveData> {
  const { splits, guardrails, reward, window, settling, now } = options;
  const bySplit = mapById(splits);
  const units = new Map<Id, Gathering>();
  const unitOfResponse = new Map<Id, Gathering>();
  const from = Math.min(...splits.map((split) => split.since));
  for await (const response of production.responses({ from })) {
    const split = response.split === undefined ? undefined : bySplit.get(response.split);
    if (!split) continue;
    const found = unitAt(units, split, response);
    // with one unit per response, the session's feedback counts for its first unit
    for (const name of [
      response.id,
      response.session,
      response.trajectory,
      `${response.trajectory} ${response.turn}`,
    ]) {
      if (!unitOfResponse.has(name)) unitOfResponse.set(name, found);
    }
    if (response.at <= found.first + settling) measureResponse(found, response, guardrails);
  }
  for await (const signal of production.signals({ from })) {
    if (reviewedSignal(signal) !== undefined) continue;
    const found = signal.about
      .map((target) => unitOfTarget(unitOfResponse, target))
      .find((unit) => unit !== undefined);
    if (found && signal.received <= found.first + window) found.signals.push(signal);
  }
  const inOrder = [...units.values()].sort((a, b) => a.first - b.first);
  const open: Record<Id, number> = {};
  for (const { version, first } of inOrder) {
    if (now < first + window) open[version] = (open[version] ?? 0) + 1;
  }
  return {
    settled: inOrder
      .filter(({ first }) => now >= first + settling)
      .map(({ version, sums }) => ({ version, measures: averages(sums) })),
    closed: inOrder
      .filter(({ first }) => now >= first + window)
      .map((unit) => closedUnit(unit, guardrails, reward)),
    open,
  };
}

function unitAt(units: Map<Id, Gathering>, split: TrafficSplit, response: ServedResponse): Gathering {
  const id = unitOf(split, { ...response, response: response.id });
  const known = units.get(id);
  if (known) return known;
  const { version, propensity, at: first } = response;
  const begun: Gathering = {
    unit: id,
    version,
    propensity,
    first,
    sums: new Map(),
    signals: [],
  };
  units.set(id, begun);
  return begun;
}

function unitOfTarget(known: ReadonlyMap<Id, Gathering>, target: Target): Gathering | undefined {
  if (target.response !== undefined) return known.get(target.response);
  if (target.trajectory === undefined)
    return target.session === undefined ? undefined : known.get(target.session);
  return known.get(target.turn === undefined ? target.trajectory : `${target.trajectory} ${target.turn}`);
}

function measureResponse(unit: Gathering, response: ServedResponse, guardrails: readonly Guardrail[]): void {
  for (const { name, measure } of guardrails) {
    const x = measure.of === "response" ? measure.value(response) : undefined;
    if (x === undefined) continue;
    const so = unit.sums.get(name) ?? { sum: 0, n: 0 };
    unit.sums.set(name, { sum: so.sum + x, n: so.n + 1 });
  }
}

const averages = (sums: Gathering["sums"]): Record<string, number> =>
  Object.fromEntries([...sums].map(([name, { sum, n }]) => [name, sum / n]));

function closedUnit(
  { unit, version, propensity, first, signals }: Gathering,
  guardrails: readonly Guardrail[],
  reward: Reward,
): UnitData {
  const measures: Record<string, number> = {};
  for (const { name, measure } of guardrails) {
    const x = measure.of === "signals" ? measure.value(signals) : undefined;
    if (x !== undefined) measures[name] = x;
  }
  const value = reward(signals);
  return { unit, version, propensity, first, measures, ...(value === undefined ? {} : { reward: value }) };
}
