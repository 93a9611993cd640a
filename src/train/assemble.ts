/** Assembles a run from its models, random streams and records. */
import type { Frozen, Model } from "../core/model.ts";
import { randomStream } from "../core/random.ts";
import { heldOutLeaks } from "./artefacts.ts";
import type { Assembly, Surroundings } from "./assembly.ts";
import { snapshotName } from "./asyncRollouts.ts";
import { type AuxiliaryModels, addAuxiliaryModels, blendAll, helperStates } from "./auxiliaryModels.ts";
import { runClock } from "./clock.ts";
import type { RunSettings } from "./config.ts";
import { makeContext } from "./context.ts";
import { evaluatorWarnings } from "./evaluatorWarnings.ts";
import { heldOutOf } from "./heldOut.ts";
import { limitConcurrency } from "./limit.ts";
import { recordingOf } from "./recording.ts";
import type { Run } from "./running.ts";
import { savingOf, validationOf } from "./saving.ts";
import { freshState } from "./state.ts";
import { vocabularyOf } from "./vocabulary.ts";
import { watchedMethod, watchOf } from "./watching.ts";

export async function assemble(settings: RunSettings, surroundings: Surroundings): Promise<Run> {
  const { environment, engine, seed, watch } = settings;
  const method = watchedMethod(settings.method, watch);
  const { records, report, stop, learn } = surroundings;
  const { found } = records;
  const random = randomStream(seed);
  const state = found?.state ?? freshState(settings.warmStart ? "warm start" : "train");
  const goesOn = found !== undefined && state.phase !== "warm start";
  const create = (id: string, heads: readonly string[] = []): Promise<Model> =>
    engine.create({
      id,
      seed: random.split("model").seed,
      vocabulary: vocabularyOf(environment, method),
      contextTokens: settings.contextTokens,
      ...(heads.length > 0 ? { heads } : {}),
    });
  const restore = (kind: "models" | "frozen", name: string, id = name): Promise<Model> =>
    engine.open(id, found!.folderOf(kind, name));
  const policy = found ? await restore("models", "policy") : await create("policy");
  const auxiliary: AuxiliaryModels = {
    models: new Map([["policy", policy]]),
    frozen: new Map(),
    helpers: new Map(),
  };
  const assembly: Assembly = {
    ...surroundings,
    ...auxiliary,
    settings,
    state,
    policy,
    snapshots: new Map<string, Frozen>(),
    random,
    clock: runClock(state),
    journal: await records.begin(settings.name, state.iteration),
    limit: limitConcurrency(settings.concurrency),
  };
  const { snapshots, clock, journal, limit } = assembly;
  const saving = savingOf(assembly);
  const recording = recordingOf(assembly);
  const tasks = environment.tasks("train");
  const heldOut = heldOutOf(environment);
  const parts = {
    ...auxiliary,
    environment,
    tasks: new Map(tasks.map((t) => [t.id, t])),
    state,
    iterations: settings.iterations,
    random,
    limit,
    leaksIn: heldOutLeaks(environment),
    heldOut,
    stop,
    warn: evaluatorWarnings(report),
    ...(journal && { journal }),
    ...(learn && { learn }),
  };
  return {
    settings,
    state,
    policy,
    models: auxiliary.models,
    snapshots,
    random,
    stop,
    tasks,
    heldOut,
    report,
    ...saving,
    ...recording,
    watch: watchOf(assembly),
    validate: validationOf(assembly, { ...saving, ...recording }),
    isSpent: () =>
      (state.watch?.alarm != null && (watch?.onAlarm ?? "stop") === "stop") ||
      clock.trained() >= (settings.budgetSeconds ?? Number.POSITIVE_INFINITY) ||
      (state.counters.episodes ?? 0) >= (settings.episodes ?? Number.POSITIVE_INFINITY),
    context: (chosen, phase, over = {}) =>
      makeContext({ ...parts, ...(phase === undefined ? {} : { phase }), ...over }, chosen),

    async settle() {
      await blendAll(method, auxiliary);
      state.helpers = helperStates(auxiliary);
    },

    async beginTraining() {
      clock.beginTraining();
      await addAuxiliaryModels(method, auxiliary, state, { create, random, ...(goesOn && { restore }) });
      if (!goesOn) return;
      for (const { since } of state.ahead) {
        for (const id of auxiliary.models.keys()) {
          const name = snapshotName(since, id);
          if (snapshots.has(name)) continue;
          const weights = await restore("frozen", name, id);
          snapshots.set(name, await weights.freeze());
          await weights.dispose();
        }
      }
    },

    async close() {
      await Promise.allSettled([...snapshots.values()].map((weights) => weights.dispose()));
      await journal?.close();
    },
  };
}
