/**
 * Async rollouts: later iterations are played while an earlier one is learnt from.
 *
 *     iteration     k          k + 1        k + 2
 *     learning   ───[ learn k ]──[ learn k + 1 ]──[ learn k + 2 ]──▶      N = 2
 *     playing    [ k + 2, with the weights before learning k      ]
 *                             [ k + 3, with those before k + 1     ]
 *
 * The attempt of iteration k is planned, and its weights are frozen, right before the update of iteration k − N: the data
 * of an update is exactly N iterations old. Everything else (annotations, feedback, credit, advantages, the update)
 * happens in order, with the current weights. The result does not depend on timing: equal seeds give equal runs, also
 * after a kill, since a checkpoint holds the running plans and their frozen weights.
 */
import { WhetstoneError } from "../core/errors.ts";
import type { Frozen, Model } from "../core/model.ts";
import type { ModelId, Stats } from "../core/types.ts";
import { importanceWeighted } from "../update/importanceWeighted.ts";
import { type Attempt, attempt, plan, type RolloutRun } from "./attempt.ts";
import { episodeBook } from "./contextParts.ts";
import { inForce } from "./phases.ts";
import type { Run } from "./running.ts";
import type { RunState } from "./state.ts";

export interface RolloutQueue {
  /** The attempt of the iteration that is due. */
  next(): Promise<Attempt>;
  /** Aborts running rollouts without waiting for them. */
  close(): void;
}

/** An attempt that has begun: its plan as a run's state holds it. */
export type Planned = RunState["ahead"][number];

/** Name of a model's weights after `since` iterations. */
export const snapshotName = (since: number, id: ModelId): string => `ahead-${since}-${id}`;

/** Synchronous or async rollouts, by the run's staleness. */
export const rolloutQueue = (run: Run): RolloutQueue =>
  run.settings.staleness > 0
    ? attemptsAhead(run)
    : { next: async () => attempt(run, await plan(run)), close: () => undefined };

function attemptsAhead(run: Run): RolloutQueue {
  const { state, settings, snapshots } = run;
  const stop = new AbortController();
  const begun: {
    readonly book: ReturnType<typeof episodeBook>;
    readonly counters: Stats;
    readonly tried: Promise<Attempt>;
  }[] = [];

  /** Plays a plan with its frozen weights. Its counts are added to the run when the attempt is learnt from. */
  function begin({ iteration, since, tasks }: Planned): void {
    const counters: Stats = {};
    const book = episodeBook(tasks);
    const view = { ...state, iteration, counters, memory: structuredClone(state.memory) };
    const models = new Map(
      [...run.models].map(
        ([id, model]) => [id, fixed(model, snapshots.get(snapshotName(since, id))!)] as const,
      ),
    );
    const seen = { state: view, models, book, alone: true, stop: AbortSignal.any([run.stop, stop.signal]) };
    const apart: RolloutRun = {
      ...run,
      state: view,
      context: (tasks, phase) => run.context(tasks, phase, seen),
    };
    const tried = attempt(apart, { ...inForce(settings.method, view), tasks });
    tried.catch(() => undefined); // handled when the attempt is awaited
    begun.push({ book, counters, tried });
  }

  /** Freezes the current weights for an attempt of a later iteration. */
  async function planNext(iteration: number): Promise<void> {
    const since = state.iteration;
    for (const [id, model] of run.models) {
      const name = snapshotName(since, id);
      if (!snapshots.has(name)) snapshots.set(name, await model.freeze());
    }
    const { tasks } = await plan({ ...run, state: { ...state, iteration } });
    state.ahead.push({ iteration, since, step: state.step, tasks: [...tasks] });
  }

  /** Disposes of frozen weights that no rollout needs. Not earlier, since a stop saves the run with them. */
  async function release(): Promise<void> {
    const due = new Set(
      state.ahead.flatMap(({ since }) => [...run.models.keys()].map((id) => snapshotName(since, id))),
    );
    for (const [name, frozen] of snapshots) {
      if (due.has(name)) continue;
      snapshots.delete(name);
      await frozen.dispose();
    }
  }

  return {
    async next() {
      await release();
      const last = Math.min(state.iteration + settings.staleness, settings.iterations - 1);
      for (let i = state.iteration + state.ahead.length; i <= last; i++) await planNext(i);
      state.ahead.slice(begun.length).forEach(begin);
      const [due, first] = [state.ahead[0]!, begun[0]!];
      const began = performance.now();
      const tried = await first.tried;
      const waited = (performance.now() - began) / 1000;
      state.ahead.shift();
      begun.shift();
      for (const [name, n] of Object.entries(first.counters))
        state.counters[name] = (state.counters[name] ?? 0) + n;
      const { slots, phase, tasks, experience } = tried;
      const stats = {
        ...experience.stats,
        staleness: state.iteration - due.since,
        "staleness.steps": state.step - due.step,
        "seconds.waited": waited,
      };
      const { importanceCap: cap } = settings;
      return {
        phase,
        tasks,
        slots: cap > 0 ? { ...slots, update: importanceWeighted(slots.update, { cap }) } : slots,
        ctx: run.context(tasks, phase, { book: first.book }),
        experience: { ...experience, stats },
        seconds: tried.seconds,
      };
    },
    close: () => stop.abort(new Error("the run has ended")),
  };
}

/** A frozen copy of a model: it samples and scores, and cannot be trained. */
function fixed(model: Model, frozen: Frozen): Model {
  const unable = async (): Promise<never> => {
    throw new WhetstoneError("capability.missing", {
      where: "a rollout with --staleness",
      got: `a request to change ${model.id}`,
      expected: "rollouts that only sample and score, since they use a frozen copy of the model",
      fix: "Leave --staleness out.",
    });
  };
  return {
    id: model.id,
    version: frozen.version,
    can: model.can,
    codec: model.codec,
    contextTokens: model.contextTokens,
    parameters: model.parameters,
    sample: (requests) => frozen.sample(requests),
    score: (rows, want) => frozen.score(rows, want),
    accumulate: unable,
    step: unable,
    freeze: unable,
    fork: unable,
    save: unable,
    load: unable,
    dispose: unable,
  };
}
