/** A library of lessons, stored by clusters of the observations they were learnt from. All functions are pure. */
import { z } from "zod";
import { writtenBy } from "../../../common/artefacts/origins.ts";
import { matchingRatio } from "../../../common/text/similarity.ts";
import type { ExperienceLibrary } from "../../../core/artefact.ts";
import type { Id } from "../../../core/types.ts";

const clusterShape = z.object({
  id: z.string(),
  scope: z.string(),
  text: z.string(),
  retrieved: z.number(),
});
const lessonShape = z.object({
  id: z.string(),
  cluster: z.string(),
  kind: z.enum(["strategy", "warning"]),
  text: z.string(),
  score: z.number(),
  shown: z.number(),
  trajectory: z.string(),
});
/** A library as JSON. `made` is the counter for new ids. */
export const libraryShape = z.object({
  clusters: z.array(clusterShape),
  lessons: z.array(lessonShape),
  made: z.number(),
});

/** A cluster: observations similar to `text`, its first one. Scopes, such as task types, do not share clusters. */
export type Cluster = Readonly<z.infer<typeof clusterShape>>;
/** A lesson of a cluster, its source trajectory, and its score in the unit of the reward. */
export type Lesson = Readonly<z.infer<typeof lessonShape>>;
export type TrainingExampleKind = Lesson["kind"];
export interface Library {
  readonly clusters: readonly Cluster[];
  readonly lessons: readonly Lesson[];
  readonly made: number;
}

/** A lesson as written, with the observation at which it applies. */
export interface Draft extends Pick<Lesson, "kind" | "text" | "score" | "trajectory"> {
  readonly scope: string;
  readonly seen: string;
}

/** Sizes and thresholds of a library. */
export interface LibraryLimits {
  /** Similarity ratio from which an observation joins a cluster, over the first 500 characters. Default 0.85. */
  readonly similarity?: number;
  /** Most clusters; the least retrieved one is evicted with its lessons. Default 500. */
  readonly clusters?: number;
  /** Similarity ratio above which a lesson counts as a duplicate in its cluster. Default 0.85. */
  readonly alike?: number;
  /** Most lessons; the lowest scores are evicted, of equals the newest. Default 100 strategies, 50 warnings. */
  readonly kept?: Readonly<Record<TrainingExampleKind, number>>;
  /** Most lessons added per admission. Default 10 strategies, 5 warnings. */
  readonly added?: Readonly<Record<TrainingExampleKind, number>>;
}

export const emptyLibrary: Library = { clusters: [], lessons: [], made: 0 };

/**
 * The first cluster of the scope that is similar enough to an observation; undefined if there is none.
 *
 *     matchingRatio(observation, text) ≥ similarity
 */
export function clusterOf(
  { clusters }: Pick<Library, "clusters">,
  scope: string,
  seen: string,
  { similarity = 0.85 }: LibraryLimits = {},
): Cluster | undefined {
  const head = seen.slice(0, compared);
  return clusters.find((cluster) => cluster.scope === scope && isLike(cluster.text, head, similarity));
}

/** The lessons shown for a cluster: those with the highest scores, of equals the oldest. */
export function lessonsAt(
  { lessons }: Pick<Library, "lessons">,
  cluster: Id | undefined,
  most: Readonly<Record<TrainingExampleKind, number>> = { strategy: 2, warning: 1 },
): readonly Lesson[] {
  const here = lessons.filter((lesson) => lesson.cluster === cluster);
  return kinds.flatMap((kind) => best(here, kind, most[kind]));
}

/**
 * The library with new lessons added, the best first: each joins the cluster of its observation, or opens one. A duplicate
 * of a lesson of its kind is not added; the existing lesson keeps its text and gets the higher of the two scores.
 */
export function admitted(library: Library, drafts: readonly Draft[], limits: LibraryLimits = {}): Library {
  const { added = { strategy: 10, warning: 5 }, kept = { strategy: 100, warning: 50 } } = limits;
  const { alike = 0.85 } = limits;
  const left = { ...added };
  let grown = library;
  for (const draft of drafts.toSorted((a, b) => b.score - a.score)) {
    const { kind, text, score, trajectory } = draft;
    const here = clusterOf(grown, draft.scope, draft.seen, limits);
    const known = grown.lessons.find(
      (l) => l.cluster === here?.id && l.kind === kind && matchingRatio(l.text, text) > alike,
    );
    if (known) {
      const raised = { ...known, score: Math.max(known.score, score) };
      grown = { ...grown, lessons: grown.lessons.map((l) => (l === known ? raised : l)) };
    } else if (left[kind] > 0) {
      left[kind]--;
      const { library: open, cluster } = here
        ? { library: grown, cluster: here }
        : opened(grown, draft, limits);
      const lesson = { id: `l${open.made}`, cluster: cluster.id, kind, text, score, shown: 0, trajectory };
      grown = { ...open, lessons: [...open.lessons, lesson], made: open.made + 1 };
    }
  }
  return { ...grown, lessons: kinds.flatMap((kind) => best(grown.lessons, kind, kept[kind])) };
}

/** The library with the counts of retrieved clusters and shown lessons added, by id. */
export const retrieved = (
  { clusters, lessons, made }: Library,
  asked: ReadonlyMap<Id, number>,
  shown: ReadonlyMap<Id, number>,
): Library => ({
  clusters: clusters.map((c) => ({ ...c, retrieved: c.retrieved + (asked.get(c.id) ?? 0) })),
  lessons: lessons.map((l) => ({ ...l, shown: l.shown + (shown.get(l.id) ?? 0) })),
  made,
});

/** The library as an artefact that can be read, edited, and applied to any model. */
export function experienceOf({ clusters, lessons }: Library): ExperienceLibrary {
  const places = new Map(clusters.map(({ id, text }) => [id, text]));
  const entries = lessons.map(({ id, kind, cluster, text, score, shown, trajectory }) => {
    const origins = { ...writtenBy("rollout"), trajectories: [trajectory] };
    return { id, kind, when: places.get(cluster) ?? "", text, score, shown, origins };
  });
  return { kind: "experience", entries };
}

const kinds: readonly TrainingExampleKind[] = ["strategy", "warning"];
/** Characters of an observation that are compared. */
const compared = 500;

/** Whether the ratio reaches a threshold; lengths that differ too much rule it out. */
function isLike(a: string, b: string, least: number): boolean {
  if (a === b) return true;
  const bound = (2 * Math.min(a.length, b.length)) / (a.length + b.length);
  return least < 1 && bound >= least && matchingRatio(a, b) >= least;
}

/** A library with room for a new cluster, and that cluster. */
function opened(
  library: Library,
  { scope, seen }: Pick<Draft, "scope" | "seen">,
  { clusters: most = 500 }: LibraryLimits,
): { readonly library: Library; readonly cluster: Cluster } {
  const cluster = { id: `c${library.made}`, scope, text: seen.slice(0, compared), retrieved: 0 };
  const leaving = library.clusters
    .toSorted((a, b) => a.retrieved - b.retrieved)
    .slice(0, Math.max(0, library.clusters.length + 1 - most));
  const gone = new Set(leaving.map(({ id }) => id));
  return {
    cluster,
    library: {
      clusters: [...library.clusters.filter(({ id }) => !gone.has(id)), cluster],
      lessons: library.lessons.filter((lesson) => !gone.has(lesson.cluster)),
      made: library.made,
    },
  };
}

const best = (lessons: readonly Lesson[], kind: TrainingExampleKind, most: number): readonly Lesson[] =>
  lessons
    .filter((lesson) => lesson.kind === kind)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, most);
