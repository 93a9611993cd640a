/**
 * The training loop: choose tasks, play episodes, gather feedback, assign credit, update, repeat.
 *
 *     tasks ─▶ rollout ─▶ annotate ─▶ feedback ─▶ credit ─▶ advantage ─▶ objective ─▶ update ─┐
 *       ▲                                                                                     │
 *       └──────────────────────────── data ◀──────────────────────────────────────────────────┘
 */
import { batchOf } from "../common/tokens/pack.ts";
import type { Advantages, AnnotatedExperience, Channels, Notes, Slots } from "../core/slots.ts";
import type { Stats } from "../core/types.ts";
import { diversityOf } from "../diagnose/diversity.ts";
import { rolloutQueue } from "./asyncRollouts.ts";
import type { Attempt, RolloutRun } from "./attempt.ts";
import { heldOutTask } from "./heldOut.ts";
import type { Iteration, Run } from "./running.ts";
import type { RunState } from "./state.ts";

/** Runs until the planned iterations are done or the budget is spent. @throws the stop signal's reason when stopped. */
export async function loop(run: Run): Promise<void> {
  await run.validate("due"); // the policy before training is a candidate for the best one; after a resume, an interrupted validation is repeated
  const attempts = rolloutQueue(run);
  try {
    while (run.state.iteration < run.settings.iterations && !run.isSpent()) {
      const boundary = structuredClone(run.state);
      // gathering changes no weights, so a stopped run is saved with the weights of the iteration's start
      const gathered = await run.saveIfStopped(boundary, async () => gather(run, await attempts.next()));
      await run.commit(await learn(run, gathered));
      await run.validate("due");
      await run.checkpointIfDue();
    }
  } finally {
    attempts.close();
  }
  await run.validate("last");
}

/** The stages between rollout and update: annotations, signals, channels and advantages. */
async function gather({ state, stop }: RolloutRun, { slots, ctx, experience, ...tried }: Attempt) {
  const began = performance.now();
  const notes = merged<Notes>(await Promise.all(slots.annotate.map((piece) => piece(ctx, experience))));
  const signals = (await Promise.all(slots.feedback.map((piece) => piece(ctx, experience, notes)))).flat();
  const withSignals = { ...experience, notes, signals };
  const annotated = { ...withSignals, channels: joined(slots.credit.map((piece) => piece(withSignals))) };
  const estimated = estimate(slots, annotated, state.advantage);

  stop.throwIfAborted();
  const seconds = tried.seconds + (performance.now() - began) / 1000;
  return { slots, ctx, annotated, estimated, seconds };
}

type Gathered = Awaited<ReturnType<typeof gather>>;

async function learn(run: Run, { slots, ctx, annotated, ...gathered }: Gathered): Promise<Iteration> {
  const { state } = run;
  const { data, objective, update } = slots;
  const { advantages, columns, next, stats } = gathered.estimated;
  const began = performance.now();
  const leaked = annotated.trajectories.find(({ task }) => run.heldOut.hasId(task));
  if (leaked) throw heldOutTask(`trajectory "${leaked.id}" of an iteration's experience`);
  const diversity = diversityOf(annotated.trajectories, ctx.tasks, run.tasks);
  const watched = await run.watch(ctx, annotated, diversity["diversity.answers"]);

  const { batch, cuts } = batchOf(
    annotated.trajectories,
    annotated.units,
    advantages,
    annotated.rows,
    columns,
  );
  ctx.count("rows.cut", cuts);
  const learnt = await update(ctx, batch, objective, annotated);
  await run.settle();

  state.data[data.name] = await data.observe(ctx, annotated, state.data[data.name]!);
  state.advantage = next;
  state.step += learnt.steps ?? 0;
  state.iteration++;
  const seconds = { rollout: gathered.seconds, update: (performance.now() - began) / 1000 };
  return {
    experience: annotated,
    advantages,
    stats: { ...annotated.stats, ...stats, ...learnt, ...watched, ...diversity },
    seconds,
  };
}

/** Applies the estimators in order; each gets the advantages of the one before. */
function estimate(slots: Slots, annotated: AnnotatedExperience, states: RunState["advantage"]) {
  let soFar: Advantages | undefined;
  const next = { ...states };
  const stats: Stats = {};
  const columns: Record<string, Advantages> = {};
  for (const [place, piece] of slots.advantage.entries()) {
    const key = `${place}/${piece.name}`;
    const made = piece.apply(annotated, states[key] ?? piece.init(), soFar);
    soFar = made.advantages;
    next[key] = made.next;
    Object.assign(stats, made.stats);
    Object.assign(columns, made.columns);
  }
  const advantages: Advantages = soFar ?? new Map();
  return { advantages, columns, next, stats };
}

const merged = <T extends object>(parts: readonly T[]): T => Object.assign({}, ...parts);

/** Channels of one name from several pieces are one channel. */
function joined(all: readonly Channels[]): Channels {
  const places = all.flatMap((channels) => Object.entries(channels));
  const byName = Map.groupBy(places, ([name]) => name);
  return Object.fromEntries([...byName].map(([name, parts]) => [name, parts.flatMap(([, at]) => at)]));
}
