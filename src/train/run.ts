/** One run from its options to its summary: warm start, training, evaluation, everything saved on the way. */
import { existsSync } from "node:fs";
import { access, constants, readFile, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { makeFolder, replaceFile, writeError } from "../common/files/files.ts";
import { endsRun } from "../core/chat.ts";
import { isWhetstoneError, messageOf, WhetstoneError } from "../core/errors.ts";
import { type Finding, findingLine } from "../core/finding.ts";
import type { Interval } from "../core/interval.ts";
import type { Json } from "../core/json.ts";
import type { Capability } from "../core/model.ts";
import type { Method } from "../core/slots.ts";
import type { Id } from "../core/types.ts";
import {
  type Examination,
  examine,
  quickly,
  reportOf,
  requireSound,
  withoutPlaying,
} from "../diagnose/environment/validate.ts";
import { type HealthReport, healthOf } from "../diagnose/health/health.ts";
import type { Engine } from "../engine/engine.ts";
import { briefly } from "../env/contract.ts";
import type { Environment } from "../env/environment.ts";
import { writeArtefactFolder } from "../store/artefactFolder.ts";
import { openRunStore, type RunStore } from "../store/runStore.ts";
import { currentArtefact, takeBest } from "./artefacts.ts";
import { assemble } from "./assemble.ts";
import { bestFolder, finalFolder, saveModel } from "./checkpoint.ts";
import type { EvaluationResult, RunEvent } from "./events.ts";
import { loop } from "./loop.ts";
import type { Run } from "./running.ts";
import { defaultWarmStart, type EvaluationSettings, type WarmStartSettings } from "./settings.ts";
import { heldOutSplits, measuredSplits } from "./splits.ts";
import { toolFindings } from "./toolFinding.ts";
import { warmStart } from "./warmStart.ts";

/** Settings of {@link train}: what is trained, with which method and engine, for how long, and where the run is saved. */
export interface RunOptions {
  readonly environment: Environment;
  readonly method: Method;
  readonly engine: Engine;
  /** Default 1. */
  readonly seed?: number;
  /** Default 80. */
  readonly iterations?: number;
  readonly budgetSeconds?: number;
  /** Training ends with the iteration in which so many episodes have been played. Default: no such limit. */
  readonly episodes?: number;
  /** The run's folder. Default `runs/<environment>-<method>-<seed>`. */
  readonly out?: string;
  /** Default `whetstone.sqlite` beside the run's folder. */
  readonly store?: string;
  /** Go on from the last checkpoint in `out`. */
  readonly resume?: boolean;
  /** Longest sequence, in tokens. Default: as the engine's pretrained model and the memory allow, else 128. */
  readonly contextTokens?: number;
  /** Episodes that run at once. Default 64. Does not change results. */
  readonly concurrency?: number;
  readonly checkpointSeconds?: number;
  /** Default: when the environment has a flawed player. */
  readonly warmStart?: boolean | Partial<WarmStartSettings>;
  readonly evaluation?: Partial<EvaluationSettings>;
  /** Iterations that rollouts may run ahead of learning. Default 0: they take turns. */
  readonly staleness?: number;
  /** With staleness: largest importance weight of a token; 0 leaves the correction to the method. Default 2. */
  readonly importanceCap?: number;
  /** What `run.json` says besides, for instance the method's settings. */
  readonly config?: Json;
  /** Kept beside it in `limits.json`, as what may be stated otherwise when the run goes on: for instance what it may cost. */
  readonly limits?: Json;
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
  /** What was looked at, and what is wrong with the run. */
  readonly health: HealthReport;
  readonly weights: string;
  /** Folder of what the policy is told at the end, where it is told something. */
  readonly artefact?: string;
  readonly before: readonly EvaluationResult[];
  readonly after: readonly EvaluationResult[];
}

function warmStartOf({ warmStart: wanted, environment, engine }: RunOptions): WarmStartSettings | undefined {
  // a model of somebody else's, which speaks already
  if (wanted === undefined && !engine.can.has("train")) return undefined;
  if (wanted === false || !environment.flawed) {
    if (wanted && !environment.flawed) {
      throw new WhetstoneError("option.range", {
        where: "warmStart",
        got: `a request for a warm start in "${environment.name}"`,
        expected: "an environment with a scripted player to imitate",
        fix: "Give the environment a `flawed` player, or leave the warm start out.",
      });
    }
    return undefined;
  }
  return { ...defaultWarmStart, ...(typeof wanted === "object" ? wanted : {}) };
}

/** Types do not bind JavaScript. @throws WhetstoneError `config.invalid` where a part is none, such as its name. */
function requireParts(options: Pick<RunOptions, "environment" | "method" | "engine">): void {
  const parts = {
    environment: [
      "tasks",
      "an environment",
      "For example environments.find(({ name }) => name === ...).make().",
    ],
    method: ["slots", "a built method", "Build its recipe, such as grpo.build()."],
    engine: ["create", "an engine", "Make one, such as tabularEngine() or localEngine()."],
  } as const;
  for (const name of ["environment", "method", "engine"] as const) {
    const part: unknown = options[name];
    const [key, expected, fix] = parts[name];
    if (typeof part === "object" && part !== null && key in part) continue;
    throw new WhetstoneError("config.invalid", {
      where: `train(): ${name}`,
      got: briefly(part),
      expected,
      fix,
    });
  }
}

function requireNeeds(method: Method, engine: Pick<Engine, "name" | "can">, staleness: number): void {
  const needs = new Set<Capability>([...method.needs, ...(staleness > 0 ? (["freeze"] as const) : [])]);
  const missing = [...needs].filter((need) => !engine.can.has(need));
  if (missing.length === 0) return;
  throw new WhetstoneError("capability.missing", {
    where: `method "${method.id}" on engine "${engine.name}"`,
    got: `no ${missing.join(", no ")}`,
    expected: `an engine with ${[...needs].join(", ")}`,
    fix: "Choose another engine, or a method whose needs this one meets.",
  });
}

/** The longest sequence, in tokens. A run that goes on keeps what it began with, whatever this machine's memory is. */
async function contextTokensOf({ contextTokens, resume, engine }: RunOptions, out: string): Promise<number> {
  if (contextTokens !== undefined) return contextTokens;
  const text = resume ? await readFile(join(out, "run.json"), "utf8").catch(() => undefined) : undefined;
  const begun = text === undefined ? undefined : (JSON.parse(text) as { readonly contextTokens?: number });
  return begun?.contextTokens ?? (await engine.contextTokens?.()) ?? 128;
}

/**
 * Makes sure that the folder is free, or holds this very run when resuming, before any work starts.
 * @returns whether the folder was made here.
 */
async function claimFolder(
  out: string,
  identity: Json,
  limits: Json | undefined,
  resume: boolean,
): Promise<boolean> {
  const file = join(out, "run.json");
  const text = await readFile(file, "utf8").catch(() => undefined);
  const wanted = `${JSON.stringify(identity, null, 1)}\n`;
  const keepLimits = async (): Promise<void> => {
    if (limits !== undefined)
      await replaceFile(join(out, "limits.json"), `${JSON.stringify(limits, null, 1)}\n`);
  };
  if (text === undefined) {
    if (resume) {
      throw new WhetstoneError("checkpoint.missing", {
        where: "--resume",
        got: `no run in ${out}`,
        expected: "the folder of a run that was started before",
        fix: "Leave --resume out to start it, or name the right folder with --out.",
      });
    }
    const made = !existsSync(out);
    await makeFolder(out);
    // before the run is there: it never is without what bounds it
    await keepLimits();
    await replaceFile(file, wanted);
    return made;
  }
  if (!resume) {
    throw new WhetstoneError("run.exists", {
      where: "--out",
      got: `${out}, where a run is already`,
      expected: "a new folder",
      fix: "Go on with that run with --resume, or name another folder.",
    });
  }
  if (text !== wanted) {
    throw new WhetstoneError("run.different", {
      where: "--resume",
      got: `options that differ from those in ${file}`,
      expected: "the very same run",
      fix: "Start it with the options that it began with, or choose another folder.",
    });
  }
  await access(out, constants.W_OK).catch((e: unknown) => {
    throw writeError(out, e);
  });
  await keepLimits();
  return false;
}

/** Nothing is left of a run that never began: told better, the same one begins. @param made whether the folder is its own. */
async function forgetRun(id: string, out: string, made: boolean, store: RunStore): Promise<void> {
  await store.dropRun(id).catch(() => undefined);
  for (const name of ["run.json", "limits.json", "journal.jsonl"])
    await rm(join(out, name), { force: true }).catch(() => undefined);
  if (made) await rmdir(out).catch(() => undefined);
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
  const { environment, method, engine, seed = 1, iterations = 80 } = options;
  const began = performance.now();
  const { staleness = 0, importanceCap = 2 } = options;
  requireParts(options);
  requireNeeds(method, engine, staleness);
  const examined = await examine(environment, options.resume ? withoutPlaying : quickly);
  requireSound(environment.name, examined.findings);
  const out = resolve(options.out ?? join("runs", `${environment.name}-${method.id}-${seed}`));
  const contextTokens = await contextTokensOf(options, out);
  const warm = warmStartOf(options);
  const evaluation = { tasks: 200, every: 10, validationTasks: 100, ...options.evaluation };
  const name = basename(out);
  const identity: Json = {
    format: 1,
    env: environment.name,
    method: method.id,
    engine: engine.name,
    seed,
    iterations,
    contextTokens,
    warmStart: warm ? { ...warm } : null,
    evaluation,
    ...(staleness > 0 && { staleness, importanceCap }),
    config: options.config ?? null,
  };
  const made = await claimFolder(out, identity, options.limits, options.resume ?? false);
  const store = await openRunStore(options.store ?? join(dirname(out), "whetstone.sqlite"));
  const id = out;
  let run: Run | undefined;
  let begun = options.resume ?? false;
  try {
    await store.startRun({
      id,
      name,
      env: environment.name,
      method: method.id,
      engine: engine.name,
      seed,
      config: identity,
      folder: out,
    });
    const settings = {
      name: id,
      environment,
      method,
      engine,
      seed,
      iterations,
      contextTokens,
      concurrency: options.concurrency ?? 64,
      checkpointSeconds: options.checkpointSeconds ?? 15,
      evaluation,
      trainedShares: Object.fromEntries(
        examined.splits.map(({ name, tasks, trained }) => [name, trained / Math.max(1, tasks.length)]),
      ),
      staleness,
      importanceCap,
      ...(options.budgetSeconds === undefined ? {} : { budgetSeconds: options.budgetSeconds }),
      ...(options.episodes === undefined ? {} : { episodes: options.episodes }),
      ...(warm ? { warmStart: warm } : {}),
    };
    run = await assemble(settings, { out, store, resume: options.resume ?? false, report, stop });
    // what an engine can may hang on its server, which is known by now
    requireNeeds(method, { name: engine.name, can: run.policy.can }, staleness);
    const findings = findingsFor(examined, run);
    await store.saveFindings(id, findings);
    begun = true;
    report({
      type: "start",
      run: name,
      env: environment.name,
      method: method.id,
      engine: engine.name,
      seed,
      out,
      parameters: run.policy.parameters,
      iterations,
      ...(run.state.step > 0 ? { resumed: run.state.iteration } : {}),
    });
    for (const finding of findings) report({ type: "warning", message: findingLine(finding), ...finding });
    const after = await learn(run, out);
    const told = currentArtefact(run.state);
    const artefact = told && (await keepArtefact(out, told.id, store));
    const seconds = (performance.now() - began) / 1000;
    const { success, trainedShare } = after.find((r) => r.mode === "sampled") ?? after[0]!;
    const summary: RunSummary = {
      run: name,
      out,
      store: store.file,
      iterations: run.state.iteration,
      seconds,
      success,
      heldOut: trainedShare === 0,
      health: await healthOf(store, id),
      weights: await weightsIn(finalFolder(out)),
      ...(artefact === undefined ? {} : { artefact }),
      before: run.state.before,
      after,
    };
    await store.finishRun(id, "done", { success: { ...success }, seconds });
    report({
      type: "done",
      run: name,
      out,
      iterations: run.state.iteration,
      seconds,
      success,
      heldOut: summary.heldOut,
      health: summary.health,
      weights: summary.weights,
      evaluations: after,
    });
    return summary;
  } catch (e) {
    const ended = endsRun(e) && !(isGone(e) && nothingDone(run));
    const stopped = (stop.aborted && e === stop.reason) || ended;
    const why = stopped ? undefined : { error: messageOf(e) };
    await store.finishRun(id, stopped ? "interrupted" : "failed", why).catch(() => undefined);
    // what it was told may have been wrong; a disk was not, and once it has room again the very same run goes on
    const disk = isWhetstoneError(e) && /^(disk|store)\./.test(e.code);
    if (!begun && !disk) await forgetRun(id, out, made, store);
    if (stopped) report({ type: "interrupted", run: name, out, iteration: run?.state.iteration ?? 0 });
    throw e;
  } finally {
    await run?.close();
    await store.close();
  }
}

const isGone = (e: unknown): boolean => isWhetstoneError(e) && e.code === "provider.gone";

/** Whether there is nothing that a run could go on from. */
const nothingDone = (run: Run | undefined): boolean =>
  run === undefined || (run.state.iteration === 0 && run.state.before.length === 0);

/** What is wrong with the environment for the model that is to act. @throws WhetstoneError where it cannot act at all. */
function findingsFor(examined: Examination, { policy, settings }: Run): readonly Finding[] {
  const { contextTokens, environment } = settings;
  const { findings } = reportOf(examined, policy.chat ? undefined : { codec: policy.codec, contextTokens });
  requireSound(examined.environment.name, findings);
  return policy.chat ? findings : [...findings, ...toolFindings(environment.tools ?? [], policy.codec)];
}

/** The artefact that did best, as a folder that people read and edit. @returns the folder. */
async function keepArtefact(out: string, id: Id, store: RunStore): Promise<string | undefined> {
  const version = await store.artefacts.get(id);
  if (!version) return undefined;
  const folder = join(out, "artefact");
  await store.artefacts.addFolder(folder);
  await writeArtefactFolder(folder, version);
  return folder;
}

/** The file of the weights; the folder, where the engine has a form of its own. */
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
  // what only talks is paid by the call, and as a rule takes no temperature
  const modes = policy.chat ? (["sampled"] as const) : (["sampled", "greedy"] as const);
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
  if (state.best) {
    await policy.load(bestFolder(out));
    takeBest(state);
  }
  await saveModel(finalFolder(out), policy);
  const after: EvaluationResult[] = [];
  for (const split of measured) {
    for (const mode of modes)
      after.push(await run.evaluate(split, mode, Math.max(1, settings.evaluation.tasks), "after"));
  }
  // a split without tasks measures nothing, and is nobody's failure
  if (after.some((r) => r.tasks > 0) && after.every((r) => r.success.n === 0)) {
    throw new WhetstoneError("environment.broken", {
      where: `environment "${environment.name}"`,
      got: "no episode of the evaluation that did not fail",
      expected: "episodes that end",
      fix: "Play it by hand with `whetstone play`; the warnings above say what it threw.",
    });
  }
  return after;
}
