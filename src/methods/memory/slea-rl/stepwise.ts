/** Lessons at every step: retrieved by the current observation, and written after the episodes. */
import type { Advise, Ctx, Memory, Play, Seen } from "../../../core/context.ts";
import type { Rollout, Update } from "../../../core/slots.ts";
import { type Id, paid, type Task, type Trajectory } from "../../../core/types.ts";
import { recordLibraryUse } from "../../../memory/libraryUse.ts";
import {
  admitted,
  clusterOf,
  type Draft,
  emptyLibrary,
  experienceOf,
  type Lesson,
  type Library,
  type LibraryLimits,
  lessonsAt,
  libraryShape,
  retrieved,
  type TrainingExampleKind,
} from "./library.ts";
import { type LessonWriter, lastSeen, messagesOf, seenAt, turnLessons } from "./writers.ts";

/** Settings of {@link withLessons} and {@link gatherLessons}; both need the same ones. */
export interface LessonOptions extends LibraryLimits {
  /** Lessons of the current cluster before every action, or lessons of any cluster before the first. Default "step". */
  readonly at?: "step" | "start";
  /** Most lessons shown at once. Default 2 strategies and 1 warning. */
  readonly most?: Readonly<Record<TrainingExampleKind, number>>;
  /** Most characters of them. Default 800. */
  readonly characters?: number;
  /** Iterations without lessons at the beginning. Default 5. */
  readonly warmUp?: number;
  /** Number of lessons from which the library is used. Default 10. */
  readonly least?: number;
  /** Tasks of different scopes share no lessons. Default: all share. */
  readonly scope?: (task: Task) => string;
  /** Writer of lessons. Default {@link turnLessons}. */
  readonly write?: LessonWriter;
  /** Score of an episode. Default: the sum of the environment's rewards. */
  readonly score?: (t: Trajectory) => number;
  /** Score from which an episode counts as successful. Default 0.5. */
  readonly good?: number;
  /** Number of best and of worst episodes that lessons are written from. Default 5. */
  readonly episodes?: number;
  /** Iterations between versions of the library as an artefact; the last one makes one as well. Default 10. */
  readonly versionEvery?: number;
  /** γ: a lesson's score is its episode's score, discounted by γ for each remaining turn. Default 0.95. */
  readonly discount?: number;
}

/**
 * A rollout that shows lessons during its episodes: before each action those of the last observation's cluster, as a
 * message that is part of the recorded prompt. The library is that before the iteration.
 * Stats: `lessons.turns`, the share of turns with lessons.
 * Paper: "SLEA-RL: Step-Level Experience Augmented Reinforcement Learning for Multi-Turn Agentic Training".
 */
export function withLessons(rollout: Rollout, options: LessonOptions = {}): Rollout {
  const { characters, scope = everywhere } = options;
  return async (ctx) => {
    const library = readLibrary(ctx.memory);
    const look = lookUp(ctx, library, options);
    const places = new Map(library.clusters.map(({ id, text }) => [id, text]));
    const messages = (lessons: readonly Lesson[]) =>
      messagesOf(
        lessons.map((lesson) => ({ ...lesson, when: places.get(lesson.cluster) ?? "" })),
        characters,
      );
    const play = (asked: Play): Promise<readonly Trajectory[]> => {
      const own = scope(typeof asked.task === "string" ? ctx.task(asked.task) : asked.task);
      const advise: Advise = async (seen: Seen) => [
        ...((await asked.advise?.(seen)) ?? []),
        ...messages(look(own, lastSeen(seen.messages), seen.turn).lessons),
      ];
      return ctx.play({ ...asked, advise });
    };
    const experience = await rollout({ ...ctx, play });
    const used = uses(ctx, experience.trajectories, look, options);
    const turns = used.map(({ lessons }) => Number(lessons.length > 0));
    const share = turns.reduce((sum, one) => sum + one, 0) / Math.max(1, turns.length);
    return { ...experience, stats: { ...experience.stats, "lessons.turns": share } };
  };
}

/**
 * Trains as `each` does and writes lessons: strategies from the best successful episodes, warnings from the worst
 * unsuccessful ones; of equals the shorter ones. Failed episodes are left out. Stats: `lessons`, `clusters`, and
 * `lessons.new`. At intervals the library is recorded as a version of an artefact, "lessons", which is not applied here:
 * the rollout shows lessons where they fit.
 */
export function gatherLessons(each: Update, options: LessonOptions = {}): Update {
  const { write = turnLessons, score = paid, good = 0.5, episodes = 5, discount = 0.95 } = options;
  const { scope = everywhere } = options;
  const draftsOf = async (ctx: Ctx, t: Trajectory, kind: TrainingExampleKind): Promise<readonly Draft[]> => {
    const place = scope(ctx.task(t.task));
    return (await write(t, kind)).map(({ turn, text }) => {
      const worth = score(t) * discount ** (t.turns.length - 1 - turn);
      return { kind, text, score: worth, trajectory: t.id, scope: place, seen: seenAt(t, turn) };
    });
  };
  return async (ctx, batch, objectives, annotated) => {
    const learnt = await each(ctx, batch, objectives, annotated);
    const before = readLibrary(ctx.memory);
    const used = uses(ctx, annotated.trajectories, lookUp(ctx, before, options), options);
    const asked = counted(used.flatMap(({ cluster }) => cluster ?? []));
    const shown = counted(used.flatMap(({ lessons }) => lessons.map(({ id }) => id)));
    const finished = annotated.trajectories
      .filter(({ end, turns }) => end.kind !== "failed" && turns.length > 0)
      .toSorted((a, b) => a.turns.length - b.turns.length);
    const well = finished.filter((t) => score(t) >= good).toSorted((a, b) => score(b) - score(a));
    const badly = finished.filter((t) => score(t) < good).toSorted((a, b) => score(a) - score(b));
    const drafts = await Promise.all([
      ...well.slice(0, episodes).map((t) => draftsOf(ctx, t, "strategy")),
      ...badly.slice(0, episodes).map((t) => draftsOf(ctx, t, "warning")),
    ]);
    const { clusters, lessons, made } = admitted(retrieved(before, asked, shown), drafts.flat(), options);
    const after = { clusters: clusters.map(copied), lessons: lessons.map(copied), made };
    ctx.memory.set(libraryKey, after);
    // not applied here: the rollout shows lessons where they fit
    recordLibraryUse(ctx, "lessons", () => experienceOf(after), options.versionEvery);
    return {
      ...learnt,
      lessons: lessons.length,
      clusters: clusters.length,
      "lessons.new": made - before.made,
    };
  };
}

/** The library in the run's memory; empty before the first iteration is done. */
export const readLibrary = (memory: Pick<Memory, "get">): Library =>
  libraryShape.parse(memory.get(libraryKey) ?? emptyLibrary);

const libraryKey = "lessons";
const everywhere = (): string => "";

/** The lessons shown: a pure function of the library and the observation. */
type Look = (
  scope: string,
  seen: string,
  turn: number,
) => {
  readonly cluster: Id | undefined;
  readonly lessons: readonly Lesson[];
};

/** Equal observations are looked up once. */
function lookUp(ctx: Pick<Ctx, "clock">, library: Library, options: LessonOptions): Look {
  const { at = "step", most, warmUp = 5, least = 10 } = options;
  const nothing = { cluster: undefined, lessons: [] };
  if (ctx.clock.iteration < warmUp || library.lessons.length < least) return () => nothing;
  const known = new Map<string, ReturnType<Look>>();
  const find = (scope: string, seen: string): ReturnType<Look> => {
    const cluster = clusterOf(library, scope, seen, options)?.id;
    return { cluster, lessons: lessonsAt(library, cluster, most) };
  };
  const anywhere = (scope: string): ReturnType<Look> => {
    const own = new Set(library.clusters.flatMap((c) => (c.scope === scope ? [c.id] : [])));
    const lessons = library.lessons.flatMap((l) => (own.has(l.cluster) ? [{ ...l, cluster: "" }] : []));
    const ids = new Set(lessonsAt({ lessons }, "", most).map(({ id }) => id));
    return { cluster: undefined, lessons: library.lessons.filter(({ id }) => ids.has(id)) };
  };
  return (scope, seen, turn) => {
    if (at === "start" && turn > 0) return nothing;
    const key = JSON.stringify(at === "start" ? [scope] : [scope, seen]);
    const found = known.get(key) ?? (at === "start" ? anywhere(scope) : find(scope, seen));
    known.set(key, found);
    return found;
  };
}

/** The lessons shown at each turn, recomputed from the episodes, which may have been played before an interruption. */
const uses = (
  ctx: Pick<Ctx, "task">,
  trajectories: readonly Trajectory[],
  look: Look,
  { scope = everywhere }: LessonOptions,
): readonly ReturnType<Look>[] =>
  trajectories.flatMap((t) => {
    const own = scope(ctx.task(t.task));
    return t.turns.map((_, turn) => look(own, seenAt(t, turn), turn));
  });

function counted(ids: readonly Id[]): ReadonlyMap<Id, number> {
  const out = new Map<Id, number>();
  for (const id of ids) out.set(id, (out.get(id) ?? 0) + 1);
  return out;
}

const copied = <T extends object>(value: T): T => ({ ...value });
