/** One run from its options to its summary: warm start, training, evaluation, everything saved on the way. */
import { access } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { endsRun } from "../core/chat.ts";
import { isWhetstoneError, messageOf, WhetstoneError } from "../core/errors.ts";
import { type Finding, findingLine } from "../core/finding.ts";
import type { Interval } from "../core/interval.ts";
import type { Id } from "../core/types.ts";
import { toolFindings } from "../diagnose/environment/toolFinding.ts";
import {
  type Examination,
  examine,
  quickly,
  reportOf,
  requireSound,
  withoutPlaying,
} from "../diagnose/environment/validate.ts";
import { type HealthReport, healthOf } from "../diagnose/health/health.ts";
import { writeArtefactFolder } from "../store/artefactFolder.ts";
import { openRunStore, type RunStore } from "../store/runStore.ts";
import { currentArtefact, takeBest } from "./artefacts.ts";
import { assemble } from "./assemble.ts";
import { modelsBeside } from "./auxiliaryModels.ts";
import { bestFolder, finalFolder, saveModel } from "./checkpoint.ts";
import { type ConfigOptions, type RunConfig, type RunSettings, resolveConfig } from "./config.ts";
import type { EvaluationResult, RunEvent } from "./events.ts";
import { claimFolder, forgetRun, readRunConfig, rememberedStore } from "./folder.ts";
import { recordsIn } from "./folderRecords.ts";
import { loop } from "./loop.ts";
import { requireNeeds, requireParts } from "./requirements.ts";
import type { Run } from "./running.ts";
import { heldOutSplits, measuredSplits } from "./splits.ts";
import { studentsOf } from "./trainInMemory.ts";
import { warmStart } from "./warmStart.ts";
import { watchedMethod } from "./watching.ts";

/** Settings of {@link train}: what is trained, with which method and engine, for how long, and where the run is saved. */
export interface RunOptions extends ConfigOptions {
  /** The run's folder. Default `runs/<environment>-<method>-<seed>`. */
  readonly out?: string | undefined;
  /** Default `whetstone.sqlite` beside the run's folder. */
  readonly store?: string | undefined;
  /** Resume from the last checkpoint in `out`. */
  readonly resume?: boolean | undefined;
}

/** Result of a finished run: its success, its health, and the paths of what it saved. */
export interface RunSummary {
  readonly run: string;
  readonly out: string;
  readonly store: string;
  readonly iterations: number;
  readonly seconds: number;
  readonly success: Interval;
  /** Whether none of the tasks behind `success` was trained on. */
  readonly heldOut: boolean;
  /** The checks that were made, and the problems found. */
  readonly health: HealthReport;
  readonly weights: string;
  /** Folder of the policy's final artefact, if it has one. */
  readonly artefact?: string;
  readonly before: readonly EvaluationResult[];
  readonly after: readonly EvaluationResult[];
}

/** The objects that the names of a config stand for, and the run's folder. */
export interface RunParts
  extends Pick<RunOptions, "environment" | "method" | "engine" | "watch" | "store" | "resume"> {
  readonly out: string;
}

/**
 * Trains. Everything is saved under `out` and in the store.
 * @throws the reason of `stop` once everything is saved, when stopped; `WhetstoneError` otherwise.
 */
export async function train(
  options: RunOptions,
  report: (event: RunEvent) => void,
  stop: AbortSignal,
): Promise<RunSummary> {
  requireParts(options);
  const { environment, method, seed = 1, resume } = options;
  const out = options.out ?? join("runs", `${environment.name}-${method.id}-${seed}`);
  // a resumed run keeps its own length, whatever this machine's memory is
  const begun = resume ? await readRunConfig(out) : undefined;
  const { contextTokens = begun?.contextTokens } = options;
  const config = await resolveConfig({ ...options, contextTokens });
  return await trainByConfig(config, { ...options, out }, report, stop);
}

/** Trains by a resolved config, which is stored whole in the run's folder. @throws as {@link train}. */
export async function trainByConfig(
  stated: RunConfig,
  parts: RunParts,
  report: (event: RunEvent) => void,
  stop: AbortSignal,
): Promise<RunSummary> {
  const { environment, method, engine, resume = false } = parts;
  const began = performance.now();
  requireNeeds(method, engine, stated.staleness);
  const examined = await examine(environment, resume ? withoutPlaying : quickly);
  requireSound(environment.name, examined.findings);
  const out = resolve(parts.out);
  const file = parts.store ?? join(dirname(out), "whetstone.sqlite");
  const config = { ...stated, adjustable: { ...stated.adjustable, store: rememberedStore(out, file) } };
  const made = await claimFolder(out, config, resume);
  const store = await openRunStore(file);
  let run: Run | undefined;
  let begun = resume;
  try {
    await store.startRun({
      ...{ id: out, name: basename(out), env: config.env, method: config.method, engine: config.engine },
      ...{ seed: config.seed, config, folder: out },
    });
    const records = await recordsIn(out, store, engine, resume);
    run = await assemble(settingsOf(config, parts, out, examined), {
      ...{ records, report, stop },
      learn: studentsOf(method),
    });
    // an engine's capabilities may depend on its server, which has been contacted by now
    requireNeeds(method, { name: engine.name, can: run.policy.can }, config.staleness);
    const trains = !method.weightFree;
    const restored = resume && run.state.phase !== "warm start";
    const beside = modelsBeside(watchedMethod(method, run.settings.watch), config.staleness, restored);
    const memory = trains ? await run.policy.plannedMemory?.(run.settings.concurrency, beside) : undefined;
    const findings = findingsFor(examined, run);
    await store.saveFindings(out, findings);
    begun = true;
    report(startEvent(config, out, run, memory));
    for (const finding of findings) report({ type: "warning", message: findingLine(finding), ...finding });
    const after = await learn(run, out);
    const seconds = (performance.now() - began) / 1000;
    const summary = await summaryOf(run, { out, store, after, seconds });
    await store.finishRun(out, "done", { success: { ...summary.success }, seconds });
    report(doneEvent(summary));
    return summary;
  } catch (e) {
    const ended = endsRun(e) && !(isGone(e) && nothingDone(run));
    const stopped = (stop.aborted && e === stop.reason) || ended;
    const why = stopped ? undefined : { error: messageOf(e) };
    await store.finishRun(out, stopped ? "interrupted" : "failed", why).catch(() => undefined);
    // a run that failed before it started leaves nothing, except after a full disk: with free space it can start with the same options
    const disk = isWhetstoneError(e) && /^(disk|store)\./.test(e.code);
    if (!begun && !disk) await forgetRun(out, out, made, store);
    if (stopped)
      report({ type: "interrupted", run: basename(out), out, iteration: run?.state.iteration ?? 0 });
    throw e;
  } finally {
    await run?.close();
    await store.close();
  }
}

function settingsOf(
  config: RunConfig,
  { environment, method, engine, watch }: RunParts,
  name: string,
  { splits }: Examination,
): RunSettings {
  const { adjustable, ...rest } = config;
  const { onAlarm, ...changing } = adjustable;
  const trainedShares = Object.fromEntries(
    splits.map(({ name, tasks, trained }) => [name, trained / Math.max(1, tasks.length)]),
  );
  if (rest.watch && !watch) {
    throw new WhetstoneError("run.different", {
      where: "watch",
      got: "no audit for a run that is watched",
      expected: "the audit that it was started with",
      fix: "Give it again: --watch, or `watch` from code.",
    });
  }
  return {
    ...{ ...rest, ...changing, name, environment, method, engine, trainedShares },
    watch: rest.watch && watch ? { ...watch, ...rest.watch, ...(onAlarm && { onAlarm }) } : undefined,
  };
}

const startEvent = (
  config: RunConfig,
  out: string,
  { policy, state }: Run,
  memory: number | undefined,
): RunEvent => ({
  type: "start",
  run: basename(out),
  env: config.env,
  method: config.method,
  engine: config.engine,
  seed: config.seed,
  out,
  parameters: policy.parameters,
  ...(memory !== undefined && { memory }),
  iterations: config.iterations,
  ...(state.step > 0 ? { resumed: state.iteration } : {}),
});

async function summaryOf(
  { state }: Run,
  {
    out,
    store,
    after,
    seconds,
  }: Pick<RunSummary, "out" | "after" | "seconds"> & { readonly store: RunStore },
): Promise<RunSummary> {
  const version = currentArtefact(state);
  const artefact = version && (await keepArtefact(out, version.id, store));
  const { success, trainedShare } = after.find((r) => r.mode === "sampled") ?? after[0]!;
  return {
    run: basename(out),
    out,
    store: store.file,
    iterations: state.iteration,
    seconds,
    success,
    heldOut: trainedShare === 0,
    health: await healthOf(store, out),
    weights: await weightsIn(finalFolder(out)),
    ...(artefact === undefined ? {} : { artefact }),
    before: state.before,
    after,
  };
}

function doneEvent({ store: _, artefact: __, before: ___, after, ...said }: RunSummary): RunEvent {
  return { type: "done", ...said, evaluations: after };
}

const isGone = (e: unknown): boolean => isWhetstoneError(e) && e.code === "provider.gone";

/** Whether the run has done nothing that could be resumed. */
const nothingDone = (run: Run | undefined): boolean =>
  run === undefined || (run.state.iteration === 0 && run.state.before.length === 0);

/** Problems of the environment for the model that will act in it. @throws WhetstoneError if the model cannot act at all. */
function findingsFor(examined: Examination, { policy, settings }: Run): readonly Finding[] {
  const { contextTokens, environment } = settings;
  const { findings } = reportOf(examined, policy.chat ? undefined : { codec: policy.codec, contextTokens });
  requireSound(examined.environment.name, findings);
  return policy.chat ? findings : [...findings, ...toolFindings(environment.tools ?? [], policy.codec)];
}

/** Writes the best artefact to a folder that people can read and edit. @returns the folder. */
async function keepArtefact(out: string, id: Id, store: RunStore): Promise<string | undefined> {
  const version = await store.artefacts.get(id);
  if (!version) return undefined;
  const folder = join(out, "artefact");
  await store.artefacts.addFolder(folder);
  await writeArtefactFolder(folder, version);
  return folder;
}

/** The weights' file, or the folder if the engine writes a format of its own. */
async function weightsIn(folder: string): Promise<string> {
  const file = join(folder, "model.safetensors");
  return await access(file).then(
    () => file,
    () => folder,
  );
}

async function learn(run: Run, out: string): Promise<readonly EvaluationResult[]> {
  const { state, settings, policy } = run;
  const { environment, warmStart: warm } = settings;
  const measured = measuredSplits(environment);
  const heldOut = heldOutSplits(environment).filter((split) => measured.includes(split));
  const { mode } = settings.evaluation;
  // chat models are paid by the call, and most take no temperature of 0
  const both = policy.chat ? (["sampled"] as const) : (["sampled", "greedy"] as const);
  const modes = mode === "both" ? both : [mode];
  const begins = state.phase === "warm start";
  if (begins && warm && environment.flawed) await warmStart(run, warm, environment.flawed);
  state.phase = "train"; // also for a run that was done, and has been given a larger budget
  await run.beginTraining();
  if (begins) await run.checkpoint();
  if (state.before.length === 0 && settings.evaluation.tasks > 0) {
    for (const split of heldOut) {
      for (const mode of modes)
        state.before.push(await run.evaluate(split, mode, settings.evaluation.tasks, "before"));
    }
  }
  await loop(run);
  state.phase = "done";
  await run.checkpoint();
  // a watched run that was stopped goes back to the weights of its best audits
  const ended = state.watch?.alarm && settings.watch?.onAlarm !== "warn";
  if (state.best || (ended && state.watch?.best !== null)) {
    await policy.load(bestFolder(out));
    takeBest(state);
  }
  await saveModel(finalFolder(out), policy);
  const after: EvaluationResult[] = [];
  for (const split of measured) {
    for (const mode of modes)
      after.push(await run.evaluate(split, mode, Math.max(1, settings.evaluation.tasks), "after"));
  }
  // a split without tasks is not a failure
  if (after.some((r) => r.tasks > 0) && after.every((r) => r.success.n === 0)) {
    throw new WhetstoneError("environment.broken", {
      where: `environment "${environment.name}"`,
      got: "an evaluation in which every episode failed",
      expected: "episodes that end without an error",
      fix: "Play it by hand with `whetstone play`; the warnings above contain the errors.",
    });
  }
  return after;
}
