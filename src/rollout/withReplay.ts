/** Past attempts in the groups of new ones: where a group teaches nothing by itself, stored attempts join it. */
import { mapById } from "../common/mapById.ts";
import type { Ctx } from "../core/context.ts";
import { fromExactJson, isObject, type Json, listOf, toExactJson } from "../core/json.ts";
import { type Random, shuffled } from "../core/random.ts";
import type { Rollout } from "../core/slots.ts";
import { type Id, succeeded, type Trajectory, type Turn } from "../core/types.ts";

/** Which stored attempts join a group. */
export interface Joining {
  /** Stored successes, or stored failures. */
  readonly outcome: "success" | "failure";
  /** Largest number that joins. */
  readonly count: number;
  /** Whether they take the places of the group's first attempts; else they are added. */
  readonly replaces: boolean;
}

/** Settings of {@link withReplay}. */
export interface WithReplayOptions {
  /** Which new attempts are stored. A replayed one never is. */
  keeps(t: Trajectory): boolean;
  /** What joins a group of new attempts; undefined: nothing. */
  joins(group: readonly Trajectory[]): Joining | undefined;
  /** Largest number of stored attempts of a task, of each outcome; the oldest goes first. Default 8. */
  readonly capacity?: number;
  /** Iterations after which a stored attempt is dropped. Default: never. */
  readonly staleness?: number;
  /**
   * Priority of a stored attempt, at least 0: attempts join in proportion to it, without repetition, and one of 0 never does.
   * Default: all alike.
   * @param age iterations since it was played, at least 1.
   */
  readonly priority?: (t: Trajectory, age: number) => number;
  /**
   * Log-probabilities that ratios compare with. "stored": those of the policy that sampled it. "scored": those of the policy as it
   * is before the update, so that every ratio begins at 1 and nothing is corrected. Default "stored".
   */
  readonly logp?: "stored" | "scored";
  /** Name of the store in the run's memory. Default "replay". */
  readonly store?: string;
}

/** Stored attempts of a task by outcome, oldest first, each as exact JSON of a {@link Stored}. */
type StoredAttempts = Readonly<Record<Joining["outcome"], readonly string[]>>;

interface Stored {
  readonly iteration: number;
  readonly trajectory: Trajectory;
}

/**
 * Plays a rollout, lets stored attempts of the same task join its groups, and then stores its own. What joins is drawn
 * uniformly or by priority, without repetition, from the attempts of at most `staleness` iterations ago. It has origin "replayed", an id of its
 * own, and its old rewards. Attempts that lose their place stay among the trajectories, in no unit.
 *
 * The store lies in the run's memory and is checkpointed with it. Stats: `replayed`, the share of groups that something joined.
 * Papers: "ARPO: End-to-End Policy Optimization for GUI Agents with Experience Replay"; "R^3: Replay, Reflection, and Ranking
 * Rewards for LLM Reinforcement Learning".
 */
export function withReplay(rollout: Rollout, options: WithReplayOptions): Rollout {
  const { store = "replay", logp = "stored" } = options;
  return async (ctx) => {
    const played = await rollout(ctx);
    const stores = readStores(ctx.memory.get(store));
    const byId = mapById(played.trajectories);
    const units = [...played.units];
    const joined: Trajectory[] = [];
    let groups = 0;
    let revived = 0;
    for (const [key, own] of Map.groupBy(played.units, ({ group }) => group)) {
      const attempts = own.flatMap(({ members }) => members.flatMap((id) => byId.get(id) ?? []));
      groups++;
      const found = joiners(ctx, key, attempts, stores, options);
      if (found.length === 0) continue;
      revived++;
      // numbered, since an attempt may join several groups
      const again = found.map((stored, i) =>
        replayedNow(stored, `${ctx.clock.iteration}/replayed/${joined.length + i}`, logp),
      );
      joined.push(...again);
      const added = again.map(({ id }) => ({ id, group: key, members: [id] }));
      if (options.joins(attempts)?.replaces) {
        const lost = new Set(own.slice(0, added.length).map(({ id }) => id));
        units.splice(0, units.length, ...units.filter(({ id }) => !lost.has(id)));
      }
      units.push(...added);
    }
    ctx.memory.set(store, withNew(stores, played.trajectories, ctx.clock.iteration, options));
    return {
      ...played,
      trajectories: [...played.trajectories, ...joined],
      units,
      stats: { ...played.stats, ...(groups > 0 && { replayed: revived / groups }) },
    };
  };
}

/** Stored attempts that join a group. */
function joiners(
  ctx: Ctx,
  group: Id,
  attempts: readonly Trajectory[],
  stores: ReadonlyMap<Id, StoredAttempts>,
  { joins, priority, staleness = Number.POSITIVE_INFINITY }: WithReplayOptions,
): Stored[] {
  const joining = joins(attempts);
  const [first] = attempts;
  const found = first && stores.get(first.task);
  if (!joining || !found) return [];
  const random: Random = ctx.random.split("replay", group);
  const age = ({ iteration }: Stored): number => ctx.clock.iteration - iteration;
  const order = shuffled(found[joining.outcome].map(readStored), random).filter(
    (stored) => age(stored) <= staleness,
  );
  const drawn = priority
    ? byPriority(order, (stored) => priority(stored.trajectory, age(stored)), random)
    : order;
  return drawn.slice(0, joining.count);
}

/**
 * In the order in which draws in proportion to the weights, without repetition, would come: by ln u / w, u uniform in (0, 1].
 * Those of weight 0 are left out. Paper: "Weighted random sampling with a reservoir".
 */
function byPriority<T>(items: readonly T[], weight: (item: T) => number, random: Random): T[] {
  const keyed = items.map((item) => ({ item, key: Math.log(1 - random.next()) / weight(item) }));
  return keyed
    .filter(({ key }) => key > Number.NEGATIVE_INFINITY)
    .sort((a, b) => b.key - a.key)
    .map(({ item }) => item);
}

/** A stored attempt as one of this iteration, under ids that begin with the prefix. */
function replayedNow({ trajectory }: Stored, prefix: string, logp: "stored" | "scored"): Trajectory {
  const unknown = (turn: Turn): Turn => {
    if (!turn.tokens || logp === "stored") return turn;
    const nothing = new Float32Array(turn.tokens.action.length).fill(Number.NaN);
    return { ...turn, tokens: { ...turn.tokens, behaviour: nothing } };
  };
  return {
    ...trajectory,
    id: `${prefix}/${trajectory.id}`,
    episode: `${prefix}/${trajectory.episode}`,
    origin: "replayed",
    turns: trajectory.turns.map(unknown),
  };
}

/** The stores with this iteration's attempts, without those that are too old or too many. */
function withNew(
  stores: ReadonlyMap<Id, StoredAttempts>,
  played: readonly Trajectory[],
  iteration: number,
  { keeps, capacity = 8, staleness = Number.POSITIVE_INFINITY }: WithReplayOptions,
): Json {
  const out = new Map(stores);
  for (const t of played) {
    if (t.origin !== "sampled" || t.end.kind === "failed" || t.turns.length === 0 || !keeps(t)) continue;
    const found = out.get(t.task) ?? { success: [], failure: [] };
    const outcome = succeeded(t) ? "success" : "failure";
    const item: Stored = { iteration, trajectory: t };
    out.set(t.task, { ...found, [outcome]: [...found[outcome], toExactJson(item)].slice(-capacity) });
  }
  const isFresh = (text: string): boolean => iteration + 1 - readStored(text).iteration <= staleness;
  const fresh = (texts: readonly string[]) => (Number.isFinite(staleness) ? texts.filter(isFresh) : texts);
  return Object.fromEntries(
    [...out].map(([task, { success, failure }]) => [
      task,
      { success: fresh(success), failure: fresh(failure) },
    ]),
  );
}

// only this file writes them
const readStored = (text: string): Stored => fromExactJson(text) as Stored;

function readStores(kept: Json | undefined): Map<Id, StoredAttempts> {
  if (!isObject(kept)) return new Map();
  const texts = (value: Json | undefined): string[] =>
    listOf(value).filter((text): text is string => typeof text === "string");
  return new Map(
    Object.entries(kept).flatMap(([task, found]) =>
      isObject(found) ? [[task, { success: texts(found.success), failure: texts(found.failure) }]] : [],
    ),
  );
}
