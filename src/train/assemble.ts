/** A run put together: its models, streams and records, with what the loop needs of them. */
import { join } from "node:path";
import { counted } from "../common/text/counted.ts";
import { endsRun } from "../core/chat.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Frozen, Model } from "../core/model.ts";
import { randomStream } from "../core/random.ts";
import { isLogged } from "../core/trainingExamples.ts";
import type { Stats, Trajectory } from "../core/types.ts";
import type { RunStore } from "../store/runStore.ts";
import { currentArtefact, heldOutLeaks, markBest, proposedArtefacts } from "./artefacts.ts";
import { snapshotName } from "./asyncRollouts.ts";
import { type AuxiliaryModels, addAuxiliaryModels, blendAll, helperStates } from "./auxiliaryModels.ts";
import { bestFolder, findCheckpoint, lettingGo, saveCheckpoint, saveModel } from "./checkpoint.ts";
import { makeContext } from "./context.ts";
import { evaluate } from "./evaluate.ts";
import type { RunEvent } from "./events.ts";
import { type Journal, openJournal } from "./journal.ts";
import { limitConcurrency } from "./limit.ts";
import { requireSmallGap } from "./logpGap.ts";
import { metricsOf } from "./metrics.ts";
import type { Run } from "./running.ts";
import type { RunSettings } from "./settings.ts";
import { freshState, type RunState } from "./state.ts";
import { vocabularyOf } from "./vocabulary.ts";

export interface Surroundings {
  readonly out: string;
  readonly store: RunStore;
  readonly resume: boolean;
  readonly report: (event: RunEvent) => void;
  readonly stop: AbortSignal;
}

/** Iterations in a row in which every episode failed, until a run that has played before gives up. */
const patience = 3;

/** So many times as long as a save took, the next one waits: a large model is not written more than it is trained. */
const savingShare = 50;

export async function assemble(
  settings: RunSettings,
  { out, store, resume, report, stop }: Surroundings,
): Promise<Run> {
  const { environment, engine, method, seed } = settings;
  const random = randomStream(seed);
  const tasks = environment.tasks("train");
  const validates = environment.splits.includes("validation") && environment.tasks("validation").length > 0;
  const found = resume ? await findCheckpoint(out) : undefined;
  const state = found?.state ?? freshState(settings.warmStart ? "warm start" : "train");
  const resumed = found && structuredClone(state);
  const models = new Map<string, Model>();
  const frozen = new Map<string, Frozen>();
  const held = new Map<string, Frozen>();
  const further: AuxiliaryModels = { models, frozen, helpers: new Map() };
  const create = (id: string, heads: readonly string[] = []): Promise<Model> =>
    engine.create({
      id,
      seed: random.split("model").seed,
      vocabulary: vocabularyOf(environment, method),
      contextTokens: settings.contextTokens,
      ...(heads.length > 0 ? { heads } : {}),
    });
  const saved = (kind: string, id: string): string => join(found?.folder ?? out, kind, id);
  models.set(
    "policy",
    found ? await engine.open("policy", saved("models", "policy")) : await create("policy"),
  );
  const policy = models.get("policy")!;
  const limit = limitConcurrency(settings.concurrency);
  const leaksIn = heldOutLeaks(environment);
  const stored = new Set<string>();
  const journal: Journal = await openJournal(join(out, "journal.jsonl"), state.iteration);
  const began = performance.now() - state.seconds * 1000;
  let trainingBegan: number | undefined;
  let lastSaved = performance.now();
  let pause = 0;
  let allFailed = 0;
  const taskMap = new Map(tasks.map((t) => [t.id, t]));
  await store.rewind(settings.name, state.iteration);

  /** Seconds of training, those of earlier sessions included. */
  const trained = (): number =>
    trainingBegan === undefined ? state.trainedSeconds : (performance.now() - trainingBegan) / 1000;

  /** Those of the held weights that attempts under way were begun with. */
  const heldFor = ({ ahead }: RunState): (readonly [string, Frozen])[] =>
    ahead.flatMap(({ since }) =>
      [...models.keys()].flatMap((id) => {
        const name = snapshotName(since, id);
        const weights = held.get(name);
        return weights ? [[name, weights] as const] : [];
      }),
    );

  async function save(of: RunState): Promise<void> {
    of.seconds = (performance.now() - began) / 1000;
    of.trainedSeconds = trained();
    const from = performance.now();
    const folder = await lettingGo(engine, out, () =>
      saveCheckpoint(out, of, { models, frozen: new Map([...frozen, ...heldFor(of)]) }),
    );
    lastSaved = performance.now();
    pause = savingShare * (lastSaved - from);
    report({ type: "checkpoint", iteration: of.iteration, folder, best: false });
  }

  async function checkpoint(): Promise<void> {
    await save(state);
    await journal.forget(state.iteration);
  }

  async function checkpointIfDue(): Promise<void> {
    const wait = settings.checkpointSeconds * 1000;
    if (wait === 0 || performance.now() - lastSaved >= Math.max(wait, pause)) await checkpoint();
  }

  /** Versions that were proposed since, with when. */
  async function keepArtefacts(): Promise<void> {
    for (const version of proposedArtefacts(state)) {
      if (stored.has(version.id)) continue;
      await store.artefacts.add({ ...version, created: Date.now() });
      stored.add(version.id);
    }
  }

  async function saveIfStopped<T>(of: RunState, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (e) {
      // the journal goes on: it may hold what comes after
      if ((stop.aborted && e === stop.reason) || endsRun(e)) await save(of);
      throw e;
    }
  }

  async function validate(when: "due" | "last"): Promise<void> {
    const { every, validationTasks } = settings.evaluation;
    const { iteration } = state;
    // who learns without weights has selected by itself, on tasks of its own
    if (every === 0 || method.weightFree || !validates) return;
    if (iteration === state.validated || (when === "due" && iteration % every !== 0)) return;
    const { success } = await saveIfStopped(state, () =>
      run.evaluate("validation", "sampled", validationTasks, "during"),
    );
    state.validated = iteration;
    // all episodes may have failed: then there is no mean
    if (Number.isNaN(success.mean) || (state.best && success.mean < state.best.success)) return;
    const folder = bestFolder(out);
    await lettingGo(engine, out, () => saveModel(folder, policy));
    state.best = { iteration, success: success.mean };
    markBest(state);
    report({ type: "checkpoint", iteration, folder, best: true });
  }

  const run: Run = {
    settings,
    state,
    policy,
    models,
    snapshots: held,
    random,
    stop,
    tasks,
    isSpent: () =>
      trained() >= (settings.budgetSeconds ?? Number.POSITIVE_INFINITY) ||
      (state.counters.episodes ?? 0) >= (settings.episodes ?? Number.POSITIVE_INFINITY),
    context: (tasks, phase, over = {}) =>
      makeContext(
        {
          ...further,
          environment,
          tasks: taskMap,
          state,
          iterations: settings.iterations,
          random,
          journal,
          limit,
          leaksIn,
          stop,
          ...(phase === undefined ? {} : { phase }),
          ...over,
        },
        tasks,
      ),
    report,
    checkpoint,
    checkpointIfDue,
    saveIfStopped,
    validate,

    async settle() {
      await blendAll(method, further);
      state.helpers = helperStates(further);
    },

    async commit(done) {
      const { iteration } = state;
      const metrics = { ...metricsOf(done, state, journal.found), ...spendOf(engine) };
      requireSmallGap(done.stats);
      const { experience, advantages } = done;
      requireActions(experience.trajectories, settings, "training");
      const broken = experience.trajectories.map((t) => t.end).filter((end) => end.kind === "failed");
      allFailed = broken.length > 0 && broken.length === experience.trajectories.length ? allFailed + 1 : 0;
      if (allFailed > 0 && (iteration === 1 || allFailed >= patience)) {
        throw nothingPlayed(environment.name, `iteration ${iteration}`, broken.length, broken[0]!.message);
      }
      if (broken.length > 0) {
        const episodes = `${broken.length} of ${counted(experience.trajectories.length, "episode")} failed`;
        report({
          type: "warning",
          message: `iteration ${iteration}: ${episodes} and were left out; the first: ${broken[0]!.message}`,
        });
      }
      await store.saveIteration(settings.name, iteration - 1, {
        metrics,
        trajectories: experience.trajectories.flatMap((trajectory) => {
          if (isLogged(trajectory.task)) return [];
          const advantage = advantages.get(trajectory.id);
          return [{ trajectory, phase: "train", ...(advantage ? { advantage } : {}) }];
        }),
      });
      await keepArtefacts();
      const left = (trained() / iteration) * (settings.iterations - iteration);
      const { budgetSeconds = Number.POSITIVE_INFINITY } = settings;
      const { rollout, update } = done.seconds;
      report({
        type: "iteration",
        iteration,
        iterations: settings.iterations,
        reward: metrics.reward ?? Number.NaN,
        success: metrics.success ?? Number.NaN,
        turns: metrics.turns ?? Number.NaN,
        tokensPerSecond: metrics.tokensPerSecond ?? 0,
        // what ran ahead of learning took no time of its own
        seconds: (metrics["seconds.waited"] ?? rollout) + update,
        secondsLeft: Math.max(0, Math.min(left, budgetSeconds - trained())),
        metrics,
      });
    },

    async evaluate(split, mode, count, when) {
      const from = performance.now();
      const told = currentArtefact(state);
      const { result, outcomes, trajectories } = await evaluate({
        environment,
        agent: policy,
        split,
        mode,
        tasks: count,
        trainedShare: settings.trainedShares[split] ?? 0,
        random,
        limit,
        stop,
        ...(told ? { artefact: told.artefact } : {}),
      });
      requireActions(trajectories, settings, `the evaluation on "${split}"`);
      const broken = trajectories.map(({ end }) => end).find((end) => end.kind === "failed");
      if (broken && when === "before" && result.failed === result.tasks) {
        throw nothingPlayed(
          environment.name,
          `the first evaluation on "${split}"`,
          result.tasks,
          broken.message,
        );
      }
      if (broken) {
        const failed = `${result.failed} of ${counted(result.tasks, "episode")} failed and were left out`;
        report({
          type: "warning",
          message: `evaluation on "${split}": ${failed}; the first: ${broken.message}`,
        });
      }
      await keepArtefacts();
      if (told) {
        await store.artefacts.measure({
          id: `${settings.name}/${when}/${state.iteration}/${split}/${mode}`,
          artefact: told.id,
          where: `${environment.name}/${split}`,
          run: settings.name,
          success: result.success,
          at: Date.now(),
        });
      }
      const ours = trajectories.filter((t) => !isLogged(t.task));
      const named = ours.map((t) => ({ ...t, id: `${when}/${t.id}` }));
      const examples = when === "during" ? [] : named.slice(0, 20);
      await store.saveEvaluation(
        settings.name,
        { when, iteration: state.iteration, ...result, outcomes },
        examples.map((trajectory) => ({ trajectory, phase: when })),
      );
      // the budget is one of training
      if (when === "before" && trainingBegan !== undefined) trainingBegan += performance.now() - from;
      report({ type: "evaluation", when, iteration: state.iteration, ...result });
      return result;
    },

    async beginTraining() {
      trainingBegan = performance.now() - state.trainedSeconds * 1000;
      const again = resumed !== undefined && resumed.phase !== "warm start";
      await addAuxiliaryModels(method, further, state, {
        create,
        random,
        ...(again ? { restore: (kind, id) => engine.open(id, saved(kind, id)) } : {}),
      });
      if (!again) return;
      for (const { since } of state.ahead) {
        for (const id of models.keys()) {
          const name = snapshotName(since, id);
          if (held.has(name)) continue;
          const weights = await engine.open(id, saved("frozen", name));
          held.set(name, await weights.freeze());
          await weights.dispose();
        }
      }
    },
    async close() {
      await Promise.allSettled([...held.values()].map((weights) => weights.dispose()));
      await journal.close();
    },
  };
  return run;
}

/** What providers were asked and paid so far, where they are. */
function spendOf(engine: Pick<RunSettings["engine"], "spent">): Stats {
  const spent = engine.spent?.();
  if (!spent) return {};
  const { calls, cachedCalls, inputTokens, outputTokens, usd } = spent;
  return {
    "spent.calls": calls,
    "spent.cachedCalls": cachedCalls,
    "spent.tokens": inputTokens + outputTokens,
    "spent.usd": usd,
  };
}

function nothingPlayed(name: string, when: string, count: number, first: string): WhetstoneError {
  const where = `environment "${name}"`;
  const got = `all ${counted(count, "episode")} of ${when} failed`;
  const fix = "`whetstone validate` shows what is wrong; --resume goes on once it is corrected.";
  return new WhetstoneError("environment.broken", {
    ...{ where, got, expected: "episodes that end", fix },
    said: `${where}: ${got}, the first with: ${first.replace(/\.$/, "")}. ${fix}`,
  });
}

/** @throws WhetstoneError `context.tooLong` where every episode was cut off before its first action. */
function requireActions(
  trajectories: readonly Trajectory[],
  { contextTokens, environment }: Pick<RunSettings, "contextTokens" | "environment">,
  when: string,
): void {
  const cut = trajectories.flatMap(({ turns, end }) =>
    turns.length === 0 && end.kind === "truncated" && end.limit === "tokens" ? [end.at] : [],
  );
  if (cut.length === 0 || cut.length < trajectories.length) return;
  throw new WhetstoneError("context.tooLong", {
    where: `environment "${environment.name}", ${when}`,
    got: `prompts of ${Math.min(...cut)} tokens or more, which fill the context of ${contextTokens} before the first action`,
    expected: "prompts that leave room for an action",
    fix: `Set --context-tokens above ${Math.max(...cut)}.`,
  });
}
