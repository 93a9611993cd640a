/** Reflective search over what an agent is told, as pieces of a method. */
import type { InstructionSet } from "../../core/artefact.ts";
import type { Ctx } from "../../core/context.ts";
import { WhetstoneError } from "../../core/errors.ts";
import { isHeldBack } from "../../core/heldBack.ts";
import type { Hint } from "../../core/hints.ts";
import { joinedOrigins, writtenBy } from "../../core/origins.ts";
import type { Experience, Rollout, Update } from "../../core/slots.ts";
import { critiqueText, environmentText, firstOf, type Telling } from "../../core/tellings.ts";
import { transcriptUntold } from "../../core/transcript.ts";
import { type Id, paid, type Stats, type Task, type Trajectory } from "../../core/words.ts";
import { instructionsOf, playedUnder } from "../instructed.ts";
import { componentsOf, lengthOf, textIn, withText } from "./components.ts";
import { type Merged, mergeOf, telling } from "./merge.ts";
import { bestOf, drawnParent, meanScore, undominated } from "./pareto.ts";
import { keepPool, type Member, type Pool, poolOf } from "./pool.ts";
import { chatReflector, quoting, type Reflector, type Told } from "./reflector.ts";

/** Settings of {@link reflectiveSearch}. */
export interface ReflectiveSearchOptions {
  /** What the agent is told at first. Default: what is in force, else nothing. */
  readonly first?: InstructionSet;
  /** Default: the policy reflects by itself where it is a model that talks; else what is said is quoted. */
  readonly reflect?: Reflector;
  /** What was said of an attempt. Default: a critic on the way, else the environment. */
  readonly tell?: Telling;
  /** What people said in production; each reflection reads the next `hintsEach` of them. Default none, and 3. */
  readonly hints?: readonly Hint[];
  readonly hintsEach?: number;
  /** Reward of an attempt that nothing is to be learnt from. Default 1. */
  readonly perfect?: number;
  /** Most characters of all texts together. Default 4000. */
  readonly characters?: number;
  /** Most merges kept, and tasks on which one is tried first. Default 5, and 5. */
  readonly merges?: number;
  readonly mergeTasks?: number;
  readonly temperature?: number;
}

/**
 * One iteration rewrites one text of one candidate. Its tasks are those to practise on and those held back (`isHeldBack`).
 * The rollout plays a candidate of the Pareto front on the iteration's tasks; the update lets a reflector rewrite one of its
 * texts, in turn, from these attempts and what was said of them, and plays the new candidate on the same tasks. If it earns
 * more in sum, it is played on the tasks held back and joins the pool. After an iteration that found one, two candidates of
 * the front are merged instead, where two fit; a merge joins if it earns at least as much as the better of the two on some
 * tasks held back. The highest mean there is in force.
 *
 * A text that is too long, says nothing new, or gives away a task which is held out is refused and played nowhere.
 * Stats: candidates, front, score.best, proposals, proposals.refused, joined, merged.
 * Paper: "GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning".
 */
export function reflectiveSearch(options: ReflectiveSearchOptions): {
  readonly rollout: Rollout;
  readonly update: Update;
} {
  return {
    async rollout(ctx) {
      const { set, tasks } = planOf(ctx, options);
      return { trajectories: await playedUnder(ctx, set, tasks, 0, options), units: [] };
    },
    async update(ctx, _batch, _objectives, evidence) {
      const plan = planOf(ctx, options);
      const begun = plan.pool ?? (await begin(ctx, plan.set, options));
      const done = plan.merged
        ? await merge(ctx, begun, plan.merged, evidence, options)
        : await mutate(ctx, begun, plan.parent ?? begun.members[0]!, evidence, options);
      keepPool(ctx, done.pool);
      const best = bestOf(done.pool.members);
      if (best) ctx.artefacts.adopt(best.id);
      return {
        steps: 0,
        candidates: done.pool.members.length,
        front: undominated(done.pool.members).length,
        ...(best && { "score.best": meanScore(best) }),
        ...done.stats,
      };
    },
  };
}

interface Plan {
  readonly pool: Pool | undefined;
  readonly parent?: Member;
  readonly merged?: Merged;
  /** What is played, and where. */
  readonly set: InstructionSet;
  readonly tasks: readonly Task[];
}

/** What an iteration is about: the same whenever it is asked. */
function planOf(ctx: Ctx, options: ReflectiveSearchOptions): Plan {
  const pool = poolOf(ctx);
  const random = ctx.random.split("reflective search");
  const tasks = practisedOf(ctx);
  if (!pool) return { pool, set: options.first ?? instructionsOf(ctx.artefacts.current()), tasks };
  const { merges = 5, mergeTasks = 5, characters = 4000 } = options;
  if (pool.found && pool.waiting > 0 && pool.merged < merges) {
    const tried = new Set(pool.tried);
    const sets = (id: Id): InstructionSet => setOf(ctx, id);
    const merged = mergeOf(pool.members, sets, tried, random.split("merge"), characters);
    const [a, b] = (merged?.of ?? []).map((id) => pool.members.find((one) => one.id === id));
    if (merged && a && b) {
      const ids = new Set(telling(a, b, mergeTasks, random.split("telling")));
      return { pool, merged, set: merged.set, tasks: ctx.practice.filter(({ id }) => ids.has(id)) };
    }
  }
  const parent = drawnParent(pool.members, random.split("parent"));
  return { pool, parent, set: setOf(ctx, parent.id), tasks };
}

interface Done {
  readonly pool: Pool;
  readonly stats: Stats;
}

/** The first candidate, with what it earns on the tasks held back. */
async function begin(ctx: Ctx, set: InstructionSet, options: ReflectiveSearchOptions): Promise<Pool> {
  const proposed = ctx.artefacts.propose({
    name: "instructions",
    artefact: set,
    parents: [],
    why: "what the agent was told at first",
    origins: set.origins,
  });
  if ("refused" in proposed) {
    throw new WhetstoneError("config.invalid", {
      where: "reflective search: first",
      got: `instructions that give away tasks which are held out: their ${proposed.refused.join(", ")}`,
      expected: "instructions without the answers that are measured",
      mend: "Take the answers out of them.",
    });
  }
  const scores = scoresOf(await playedUnder(ctx, set, heldBackOf(ctx), 1, options));
  const member = { id: proposed.id, parents: [], scores, turn: 0 };
  return { members: [member], tried: [], waiting: 0, merged: 0, found: false };
}

async function mutate(
  ctx: Ctx,
  pool: Pool,
  parent: Member,
  evidence: Experience,
  options: ReflectiveSearchOptions,
): Promise<Done> {
  const { perfect = 1, characters = 4000, hints = [], hintsEach = 3 } = options;
  const turned = {
    ...pool,
    found: false,
    members: pool.members.map((one) => (one.id === parent.id ? { ...one, turn: one.turn + 1 } : one)),
  };
  const attempts = await attemptsOf(ctx, evidence, options);
  const nothing = { pool: turned, stats: { proposals: 0, "proposals.refused": 0, joined: 0 } };
  if (attempts.length === 0 || attempts.every(({ reward }) => reward >= perfect)) return nothing;
  const set = setOf(ctx, parent.id);
  const component = componentsOf(set)[parent.turn % componentsOf(set).length]!;
  const own = textIn(set, component);
  const from = (ctx.clock.iteration * hintsEach) % Math.max(1, hints.length);
  const read = hints.slice(from, from + hintsEach);
  const { chat } = ctx.model();
  const reflect = options.reflect ?? (chat ? chatReflector(chat) : quoting());
  const text = await reflect({
    component,
    text: own,
    attempts,
    hints: read,
    characters: characters - lengthOf(set) + own.length,
    random: ctx.random.split("reflect"),
  });
  const origins = joinedOrigins("reflection", [
    set.origins,
    ...read.map((hint) => hint.origins),
    { ...writtenBy("reflection"), trajectories: attempts.map(({ trajectory }) => trajectory) },
  ]);
  const child = withText(set, component, text ?? own, origins);
  const refused = { pool: turned, stats: { proposals: 1, "proposals.refused": 1, joined: 0 } };
  if (text === undefined || text === own || lengthOf(child) > characters) return refused;
  const proposed = ctx.artefacts.propose({
    name: "instructions",
    artefact: child,
    parents: [parent.id],
    why: `${component} rewritten from ${attempts.length} attempts${read.length > 0 ? ` and ${read.length} hints` : ""}`,
    origins,
  });
  if ("refused" in proposed || pool.members.some(({ id }) => id === proposed.id)) return refused;
  const tasks = practisedOf(ctx);
  const [before, after] = [
    scoresOf(evidence.trajectories),
    scoresOf(await playedUnder(ctx, child, tasks, 2, options)),
  ];
  const both = Object.keys(before).filter((task) => Object.hasOwn(after, task));
  const tried = { proposals: 1, "proposals.refused": 0 };
  if (sumOf(after, both) <= sumOf(before, both)) return { pool: turned, stats: { ...tried, joined: 0 } };
  return {
    pool: await joined(ctx, turned, proposed.id, child, [parent.id], options),
    stats: { ...tried, joined: 1 },
  };
}

async function merge(
  ctx: Ctx,
  pool: Pool,
  { of, set, key }: Merged,
  { trajectories }: Experience,
  options: ReflectiveSearchOptions,
): Promise<Done> {
  const noted = { ...pool, found: false, tried: [...pool.tried, key] };
  const scores = scoresOf(trajectories);
  const tasks = Object.keys(scores);
  const bar = Math.max(
    ...pool.members.filter(({ id }) => of.includes(id)).map((one) => sumOf(one.scores, tasks)),
  );
  // where every episode failed, nothing speaks for it
  if (tasks.length === 0 || sumOf(scores, tasks) < bar) return { pool: noted, stats: { merged: 0 } };
  const proposed = ctx.artefacts.propose({
    name: "instructions",
    artefact: set,
    parents: [...of],
    why: "of two, each text that only one of them had changed",
    origins: set.origins,
  });
  if ("refused" in proposed || pool.members.some(({ id }) => id === proposed.id))
    return { pool: noted, stats: { merged: 0 } };
  const after = await joined(ctx, noted, proposed.id, set, of, options);
  return {
    pool: { ...after, waiting: pool.waiting - 1, merged: pool.merged + 1, found: false },
    stats: { merged: 1 },
  };
}

/** The pool with a candidate, once that was played on the tasks held back. */
async function joined(
  ctx: Ctx,
  pool: Pool,
  id: Id,
  set: InstructionSet,
  parents: readonly Id[],
  options: ReflectiveSearchOptions,
): Promise<Pool> {
  const scores = scoresOf(await playedUnder(ctx, set, heldBackOf(ctx), 3, options));
  const waiting = pool.waiting + Number(pool.merged + pool.waiting < (options.merges ?? 5));
  return {
    ...pool,
    members: [...pool.members, { id, parents: [...parents], scores, turn: 0 }],
    waiting,
    found: true,
  };
}

const practisedOf = ({ practice }: Ctx): readonly Task[] => practice.filter((task) => !isHeldBack(task));
const heldBackOf = ({ practice }: Ctx): readonly Task[] => practice.filter(isHeldBack);

const setOf = (ctx: Ctx, id: Id): InstructionSet => instructionsOf(ctx.artefacts.version(id));

/** What was earned at each task; an episode that failed says nothing. */
const scoresOf = (trajectories: readonly Trajectory[]): Record<Id, number> =>
  Object.fromEntries(trajectories.filter(({ end }) => end.kind !== "failed").map((t) => [t.task, paid(t)]));

const sumOf = (scores: Readonly<Record<Id, number>>, tasks: readonly Id[]): number =>
  tasks.reduce((sum, task) => sum + (scores[task] ?? 0), 0);

async function attemptsOf(
  ctx: Ctx,
  experience: Experience,
  { tell = firstOf(critiqueText(), environmentText) }: ReflectiveSearchOptions,
): Promise<readonly Told[]> {
  const ended = experience.trajectories.filter(({ end }) => end.kind !== "failed");
  return Promise.all(
    ended.map(async (t) => ({
      trajectory: t.id,
      transcript: transcriptUntold(t),
      feedback: await tell(ctx, t, experience),
      reward: paid(t),
    })),
  );
}
