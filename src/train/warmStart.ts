/** Supervised warm start: imitates a scripted player until the held-out loss stops falling. */

import { averageStats } from "../common/statistics/stats.ts";
import { batchOf, rebased, selectRows } from "../common/tokens/pack.ts";
import { type Batch, rowCount } from "../core/batch.ts";
import { WhetstoneError } from "../core/errors.ts";
import { shuffled } from "../core/random.ts";
import { actionTokens, type Ending, type Task, type Trajectory } from "../core/types.ts";
import type { Player } from "../env/environment.ts";
import { likelihood } from "../objective/likelihood.ts";
import { scriptActor } from "../rollout/actor.ts";
import { playEpisode } from "../rollout/episode.ts";
import type { Run } from "./running.ts";
import type { WarmStartSettings } from "./settings.ts";
import type { RunState } from "./state.ts";

/** Demonstrations of a scripted player in these tasks, as training rows. */
async function demonstrations(
  run: Run,
  player: Player,
  split: string,
  tasks: readonly Task[],
): Promise<Batch> {
  const { environment } = run.settings;
  const { codec, contextTokens } = run.policy;
  const played: Trajectory[] = [];
  for (const task of tasks) {
    run.stop.throwIfAborted();
    const episode = await playEpisode({
      environment,
      task,
      id: `demonstration/${split}/${task.id}`,
      actor: () => scriptActor("policy", player, { codec, contextTokens }),
      random: run.random.split("demonstration", split, task.id),
    });
    played.push(...episode);
  }
  const whole = played.filter((t) => t.end.kind !== "failed");
  if (whole.length === 0) throw nothingToImitate(run, split, played[0]?.end);
  const units = whole.map((t) => ({ id: t.id, group: t.task, members: [t.id] }));
  const ones = new Map(whole.map((t) => [t.id, new Float32Array(actionTokens(t)).fill(1)]));
  return batchOf(whole, units, ones).batch;
}

function nothingToImitate(run: Run, split: string, end: Ending | undefined): WhetstoneError {
  return new WhetstoneError("environment.broken", {
    where: `warm start in "${run.settings.environment.name}"`,
    got: `no demonstration in split "${split}"${end?.kind === "failed" ? `: ${end.message}` : ""}`,
    expected: "episodes that the scripted player completes",
    fix: "Fix the environment's `flawed` player, or leave the warm start out.",
  });
}

/** Most held-out demonstrations. */
const heldOutTasks = 200;

/** Demonstrations to imitate, and others to measure by: those of the validation split, or every tenth where there is none. */
async function bothDemonstrations(run: Run, player: Player): Promise<{ train: Batch; heldOut: Batch }> {
  const { environment } = run.settings;
  const tasks = environment.tasks("train");
  const own = environment.splits.includes("validation") && environment.tasks("validation").length > 0;
  const isHeldOut = (_: Task, i: number): boolean => !own && i % 10 === 0;
  const others = own ? environment.tasks("validation") : tasks.filter(isHeldOut);
  return {
    train: await demonstrations(
      run,
      player,
      "train",
      tasks.filter((t, i) => !isHeldOut(t, i)),
    ),
    heldOut: await demonstrations(run, player, "validation", others.slice(0, heldOutTasks)),
  };
}

/** Mean negative log-likelihood per action token, nats. */
async function heldOutLoss(run: Run, batch: Batch): Promise<number> {
  const { logp } = await run.policy.score(batch);
  let sum = 0;
  for (const x of logp) sum -= x;
  return sum / logp.length;
}

/** True when the last `patience` measurements brought no real fall below the best before them. */
export function hasConverged(
  losses: readonly number[],
  { patience, tolerance }: Pick<WarmStartSettings, "patience" | "tolerance">,
): boolean {
  if (losses.length <= patience) return false;
  const best = Math.min(...losses.slice(0, -patience));
  return Math.min(...losses.slice(-patience)) > best * (1 - tolerance);
}

/** True once the loss has stopped falling at the last and smallest step size. */
const isDone = ({ losses, drops }: RunState["warm"], settings: WarmStartSettings): boolean =>
  drops >= settings.drops && hasConverged(losses, settings);

/** Continues from `run.state.warm`; the demonstrations of an update depend only on its number. */
export async function warmStart(run: Run, settings: WarmStartSettings, player: Player): Promise<void> {
  const { state, policy } = run;
  const { train, heldOut } = await run.saveIfStopped(state, () => bothDemonstrations(run, player));
  const objective = likelihood();
  const random = run.random.split("warm start");
  const rows = rowCount(train);
  const perPass = Math.max(1, Math.floor(rows / settings.batch));
  let pass = -1;
  let order: number[] = [];
  const began = performance.now();
  let tokens = 0;
  while (state.warm.update < settings.updates && !isDone(state.warm, settings)) {
    if (run.stop.aborted) {
      await run.checkpoint();
      run.stop.throwIfAborted();
    }
    const { update } = state.warm;
    if (Math.floor(update / perPass) !== pass) {
      pass = Math.floor(update / perPass);
      order = shuffled([...Array(rows).keys()], random.split("pass", pass));
    }
    const at = (update % perPass) * settings.batch;
    const picked = order.slice(at, at + settings.batch).sort((a, b) => a - b);
    const batch = rebased(selectRows(train, picked));
    const ctx = run.context([], "warm start");
    const stats = await policy.accumulate(batch, objective, await objective.prepare(ctx, batch));
    const rise = Math.min(1, (update + 1) / 20);
    const learningRate = settings.learningRate * rise * settings.drop ** state.warm.drops;
    await policy.step({
      learningRate,
      clip: 1,
      weightDecay: settings.weightDecay,
      betas: [0.9, 0.95],
      // smaller gradients than this are noise; Adam would blow them up and drag rare words about
      epsilon: 1e-5,
    });
    tokens += batch.tokens_N.length;
    state.warm.update++;
    state.step++;
    const measure = state.warm.update % settings.every === 0;
    let validation: number | undefined;
    if (measure) {
      validation = await heldOutLoss(run, heldOut);
      state.warm.losses.push(validation);
      if (hasConverged(state.warm.losses, settings) && state.warm.drops < settings.drops) {
        state.warm.drops++;
        state.warm.losses = [Math.min(...state.warm.losses)];
      }
    }
    const seconds = (performance.now() - began) / 1000;
    if (measure || state.warm.update === 1) {
      run.report({
        type: "warmstart",
        update: state.warm.update,
        loss: averageStats(stats).nll ?? Number.NaN,
        ...(validation === undefined ? {} : { validation }),
        tokensPerSecond: tokens / seconds,
        seconds,
      });
    }
    await run.checkpointIfDue();
  }
}
