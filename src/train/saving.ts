/** Checkpoints and validation of a run: when, and what is saved. */
import { endsRun } from "../core/chat.ts";
import type { Frozen } from "../core/model.ts";
import { markBest } from "./artefacts.ts";
import type { Assembly } from "./assembly.ts";
import { snapshotName } from "./asyncRollouts.ts";
import type { Run } from "./running.ts";
import type { RunState } from "./state.ts";

/** Minimum pause before the next save, as a multiple of the last save's duration; bounds the share of time spent on saving. */
const savingShare = 50;

type Saving = Pick<Run, "checkpoint" | "checkpointIfDue" | "saveIfStopped">;

export function savingOf({
  settings,
  state,
  models,
  policy,
  frozen,
  snapshots,
  clock,
  records,
  journal,
  report,
  stop,
}: Assembly): Saving {
  let lastSaved = performance.now();
  let pause = 0;

  /** The snapshots that running rollouts use. */
  const usedSnapshots = ({ ahead }: RunState): (readonly [string, Frozen])[] =>
    ahead.flatMap(({ since }) =>
      [...models.keys()].flatMap((id) => {
        const name = snapshotName(since, id);
        const weights = snapshots.get(name);
        return weights ? [[name, weights] as const] : [];
      }),
    );

  async function save(of: RunState): Promise<void> {
    of.seconds = clock.total();
    of.trainedSeconds = clock.trained();
    const from = performance.now();
    const weighted = { models, frozen: new Map([...frozen, ...usedSnapshots(of)]) };
    const folder = await records.saveCheckpoint(of, weighted);
    lastSaved = performance.now();
    pause = savingShare * (lastSaved - from);
    if (folder !== undefined) report({ type: "checkpoint", iteration: of.iteration, folder, best: false });
  }

  async function checkpoint(): Promise<void> {
    await save(state);
    await journal?.forget(state.iteration);
  }

  return {
    checkpoint,

    async checkpointIfDue() {
      const { checkpointSeconds, keepEvery, method } = settings;
      // before the checkpoint: a run that is killed in between keeps them again
      if (keepEvery && !method.weightFree && state.iteration % keepEvery === 0)
        await records.keep(policy, state.iteration);
      const wait = checkpointSeconds * 1000;
      if (wait === 0 || performance.now() - lastSaved >= Math.max(wait, pause)) await checkpoint();
    },

    async saveIfStopped(of, work) {
      try {
        return await work();
      } catch (e) {
        // the journal stays open: it may hold episodes of later iterations
        if ((stop.aborted && e === stop.reason) || endsRun(e)) await save(of);
        throw e;
      }
    },
  };
}

/** Measures the policy on the validation split where that is due, and keeps the best so far. */
export const validationOf =
  ({ settings, state, policy, records, report }: Assembly, run: Pick<Run, "saveIfStopped" | "evaluate">) =>
  async (when: "due" | "last"): Promise<void> => {
    const { environment, method } = settings;
    const { every, validationTasks, mode } = settings.evaluation;
    const { iteration } = state;
    // a method without weight changes selects its artefact by itself, on tasks of its own
    if (every === 0 || method.weightFree) return;
    if (!environment.splits.includes("validation") || environment.tasks("validation").length === 0) return;
    if (iteration === state.validated || (when === "due" && iteration % every !== 0)) return;
    const { success } = await run.saveIfStopped(state, () =>
      run.evaluate("validation", mode === "greedy" ? "greedy" : "sampled", validationTasks, "during"),
    );
    state.validated = iteration;
    // all episodes may have failed: then there is no mean
    if (Number.isNaN(success.mean) || (state.best && success.mean < state.best.success)) return;
    const folder = await records.saveBest(policy);
    state.best = { iteration, success: success.mean };
    markBest(state);
    if (folder !== undefined) report({ type: "checkpoint", iteration, folder, best: true });
  };
