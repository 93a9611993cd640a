/** The search as a method: an archive chooses the starts, a group of candidates is made from each, and a policy may learn from them. */
import { entropic } from "../advantage/entropic.ts";
import type { Ctx } from "../core/context.ts";
import type { Json } from "../core/json.ts";
import type { AnnotatedExperience, Data, Method, Rollout } from "../core/slots.ts";
import type { Task, Trajectory } from "../core/types.ts";
import { method } from "../method/method.ts";
import { policyGradient } from "../objective/policyGradient.ts";
import { multiTurn } from "../rollout/multiTurn.ts";
import { nothing } from "../update/nothing.ts";
import {
  type Archive,
  begun,
  emptyArchive,
  type Made,
  type Strategy,
  startsOf,
  withMade,
} from "./archive.ts";
import {
  candidateOf,
  invalid,
  type Problem,
  type Proposing,
  proposed,
  randomMoves,
  scoreOf,
  taskAt,
} from "./problem.ts";

/** How a problem is searched. */
export interface SearchOptions extends Proposing {
  readonly strategy: Strategy;
  /** Who proposes: edits drawn at random, a model that stays as it is, or one that learns. */
  readonly by: "random" | "model" | "learner";
  /** Starts of an iteration, and candidates made from each. */
  readonly groups: number;
  readonly groupSize: number;
  /** Candidates to be scored in all; the last iteration has fewer starts. */
  readonly evaluations: number;
  /** Step size of a learner. */
  readonly learningRate?: number;
  /** Sees the archive whenever it changes. */
  readonly onArchive?: (archive: Archive) => void;
}

/** Builds the method. Its only state is the archive, which is checkpointed with the run. */
export function searchMethod(problem: Problem, options: SearchOptions): Method {
  const { by, groups, groupSize, learningRate, strategy } = options;
  const recipe = method({
    id: `discover-${strategy}`,
    family: "curriculum",
    summary: "searches for the best solution of one problem",
    paper: "Learning to Discover at Test Time",
    defaults: { minibatches: 1, schedule: "constant" },
    slots: {
      data: archived(problem, options),
      rollout: by === "random" ? byProgram(problem, groupSize) : multiTurn({ groupSize, constrained: true }),
      advantage: by === "learner" ? entropic() : [],
      objective: by === "learner" ? policyGradient() : [],
      ...(by === "learner" ? {} : { update: nothing() }),
    },
  });
  const built = recipe.build({
    tasks: groups,
    groupSize,
    ...(learningRate === undefined ? {} : { learningRate }),
  });
  // what learns nothing needs nothing of an engine
  return by === "learner" ? built : { ...built, needs: [], weightFree: true };
}

/** The archive as the data of the run: its starts are the tasks. */
function archived(problem: Problem, options: SearchOptions): Data {
  const { strategy, groups, groupSize, evaluations, onArchive = () => {} } = options;
  const told = (archive: Archive): Archive => {
    onArchive(archive);
    return archive;
  };
  return {
    name: "archive",
    init: () => asJson(emptyArchive),
    async choose(ctx, tasks, state) {
      const known = state as unknown as Archive;
      const archive = told(known.nodes.length > 0 ? known : await scoredStarts(problem, tasks));
      const left = Math.ceil((evaluations - archive.evaluations) / groupSize);
      const count = Math.max(1, Math.min(groups, left));
      const ids = startsOf(archive, strategy, { count, group: groupSize }, ctx.random);
      const byId = new Map(archive.nodes.map((node) => [node.id, node]));
      // a start may come again in another iteration: the task is another one
      const chosen = ids.map((id, place) => {
        const { candidate, score } = byId.get(id)!;
        return taskAt(`${archive.evaluations}/${place}/${id}`, candidate, id, score);
      });
      return { tasks: chosen, next: asJson(archive) };
    },
    async observe(ctx, annotated, state) {
      return asJson(
        told(withMade(state as unknown as Archive, madeIn(problem, options, ctx, annotated), strategy)),
      );
    },
  };
}

const asJson = (archive: Archive): Json => archive as unknown as Json;

async function scoredStarts(problem: Problem, tasks: readonly Task[]): Promise<Archive> {
  const { floor = 0 } = problem;
  const starts: { candidate: string; score: number }[] = [];
  for (const task of tasks) {
    const candidate = candidateOf(task);
    starts.push({ candidate, score: (await scoreOf(problem, candidate)) ?? floor });
  }
  return begun(starts);
}

/** The candidates of an iteration's episodes, in the order of the episodes. */
function madeIn(
  problem: Problem,
  proposing: Proposing,
  ctx: Ctx,
  { trajectories }: AnnotatedExperience,
): readonly Made[] {
  return trajectories.map((t: Trajectory): Made => {
    const task = ctx.task(t.task);
    const from = Number(task.metadata.node);
    const isScored = t.end.kind === "done" && t.end.reason !== invalid;
    const actions = t.turns.map(({ action }) => action.content);
    const candidate = isScored ? proposed(problem, proposing, candidateOf(task), actions) : undefined;
    const score = candidate === undefined ? undefined : t.turns.at(-1)?.rewards.outcome;
    return { from, candidate, score };
  });
}

/** A group of edits drawn at random from each start. */
function byProgram(problem: Problem, groupSize: number): Rollout {
  const program = randomMoves(problem);
  return async (ctx) => {
    const plays = ctx.tasks.flatMap((task) =>
      Array.from({ length: groupSize }, (_, attempt) => ctx.play({ task: task.id, attempt, program })),
    );
    return { trajectories: (await Promise.all(plays)).flat(), units: [] };
  };
}
