/** `whetstone compare`: methods beside each other, from the same starting weights, at equal budgets. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { replaceFile } from "../common/files/files.ts";
import { mean } from "../common/statistics/statistics.ts";
import { counted } from "../common/text/counted.ts";
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import { findingLine } from "../core/finding.ts";
import { type Examination, examine, quickly, requireSound } from "../diagnose/environment/validate.ts";
import type { Engine } from "../engine/engine.ts";
import type { Environment } from "../env/environment.ts";
import type { Recipe } from "../method/method.ts";
import type { Settings } from "../method/settings.ts";
import { openRunStore } from "../store/runStore.ts";
import { type ComparedRun, compareRuns, comparisonPage } from "../train/compare.ts";
import type { RunEvent } from "../train/events.ts";
import { heldOutSplits, measuredSplits } from "../train/splits.ts";
import { engineNames, makeEngine, requireEnvironment, requireMethod } from "./catalogue.ts";
import {
  addNamed,
  atEdge,
  buildWith,
  type Choice,
  choiceFor,
  choiceWords,
  gridOf,
  type Lists,
  listsFor,
  listsOf,
  requireKnown,
  tagOf,
} from "./choices.ts";
import { comparisonReporter, comparisonTables, type ReportRun } from "./comparisonReport.ts";
import { onSignal } from "./interrupted.ts";
import { loadModule } from "./module.ts";
import { addSet, statedNumber } from "./options.ts";
import { addCommand, duration, folded, type Io } from "./output.ts";

interface CompareOptions {
  readonly env?: string;
  readonly engine: string;
  readonly seeds: string;
  readonly seed: string;
  readonly iterations: string;
  readonly episodes?: string;
  readonly rates?: string;
  readonly set?: Choice;
  readonly tune?: Choice;
  readonly tuningSeeds: string;
  readonly out?: string;
  readonly contextTokens: string;
  readonly tasks: string;
}

export function addCompare(program: Command, io: Io): void {
  const command = addCommand(
    program,
    "compare",
    "Compare methods: same environment, seeds and budget, paired intervals.",
    [
      "whetstone compare grpo rloo reinforce --env contextual-bandit --engine tabular --seeds 8",
      "whetstone compare grpo igpo a2tgpo turn-ppo --env facts --seeds 5",
      "whetstone compare grpo gspo --env facts --rates 2e-4,5e-4,1e-3    # each tuned on other seeds",
      "whetstone compare grpo igpo --env facts --tune learningRate=2e-4,5e-4 --tune discount=0.9,1",
      "whetstone compare grpo gepa --env world.ts --engine engine.ts --episodes 640    # with and without weights",
    ],
  )
    .argument("<methods...>", "two or more; the first is what the others are compared with")
    .option("--env <name>", `environment, or a module that exports one (default: ${usualEnv})`)
    .option("--engine <name>", "what computes: local, tabular, or a module that exports an engine", "local")
    .option("--seeds <n>", "runs of each method", "5")
    .option("--seed <n>", "first seed", "1")
    .option("--iterations <n>", "updates of the policy: the same budget of episodes for all", "80")
    .option(
      "--episodes <n>",
      "in place of --iterations: training ends once so many were played, those of selection included",
    )
    .option("--rates <list>", "step sizes to choose from for each method; as --tune learningRate=<list>")
    .option("--tuning-seeds <n>", "runs for each combination of values", "2")
    .option("--tasks <n>", "held-out tasks per split", "200")
    .option("--context-tokens <n>", "longest sequence", "128")
    .option(
      "--out <folder>",
      "folder of the comparison; the same one goes on (default: runs/compare-<env>-…)",
    )
    .action(async (ids: string[], options: CompareOptions) => {
      await compare(ids, options, io);
    });
  addSet(command);
  addNamed(
    command,
    "--tune <name=list>",
    "values to choose from for each method that has this option or setting, every combination of them, on seeds that are not reported",
  );
}

/** Everything that the runs of a comparison share. */
interface Plan {
  readonly environment: Environment;
  readonly engine: string;
  readonly out: string;
  readonly iterations: number;
  /** What ends training, where that is not iterations. */
  readonly episodes?: number;
  readonly tasks: number;
  readonly contextTokens: number;
  /** Holds for every method that has such options or settings. */
  readonly set: Choice;
  readonly stop: AbortSignal;
  readonly io: Io;
}

/** What is compared on where no --env is named, and about how many seconds a run of its default size takes on two cores. */
const [usualEnv, usualSeconds, usualIterations] = ["facts", 150, 80];

/** What is about to be done. */
function planned(methods: number, seeds: number, tuning: number, plan: Plan): string {
  const { environment, engine, iterations, episodes, out } = plan;
  const each = episodes === undefined ? counted(iterations, "iteration") : counted(episodes, "episode");
  const more = tuning > 0 ? `, ${tuning} more to tune` : "";
  return `${methods} methods × ${counted(seeds, "seed")}${more}: ${methods * seeds + tuning} runs of ${each} on ${environment.name}, ${engine} engine, kept in ${out}. Runs that are there already are not made again.`;
}

function usualWords(total: number, { engine, iterations, episodes }: Plan): string {
  const taken = `No --env is named, so that ${usualEnv} is taken`;
  return engine === "local" && episodes === undefined
    ? `${taken}: about ${duration((total * usualSeconds * iterations) / usualIterations)} on two cores.`
    : `${taken}.`;
}

const firstTuningSeed = 1_000_000;

async function compare(ids: readonly string[], options: CompareOptions, io: Io): Promise<void> {
  const recipes = [...new Set(ids)].map((id) => requireMethod("whetstone compare", id));
  if (recipes.length < 2) {
    throw new WhetstoneError("option.range", {
      where: "whetstone compare",
      got: `${recipes.length} method`,
      expected: "two or more different ones",
      fix: "Name a baseline first, then what is to be compared with it.",
    });
  }
  const { rates, tune = {} } = options;
  rates?.split(",").forEach((text) => positive("--rates", text));
  const lists = listsOf({ ...(rates === undefined ? {} : { learningRate: rates }), ...tune });
  requireKnown("--set", Object.keys(options.set ?? {}), recipes);
  const set: Choice = Object.assign({}, ...recipes.map((recipe) => choiceFor(recipe, options.set ?? {})));
  requireKnown("--tune", Object.keys(lists), recipes);
  // what cannot be built is refused before anything runs
  for (const recipe of recipes)
    for (const choice of [{}, ...gridOf(listsFor(recipe, lists))])
      buildWith(recipe, {}, { ...set, ...choice });
  const environment = await requireEnvironment("--env", options.env ?? usualEnv);
  const { findings, splits } = await examine(environment, quickly);
  requireSound(environment.name, findings);
  requireHeldOutTasks(environment, splits);
  for (const finding of findings) io.error(`warning: ${findingLine(finding)}`);
  const [seeds, first] = [statedNumber("--seeds", options.seeds, 1), statedNumber("--seed", options.seed)];
  const iterations = statedNumber("--iterations", options.iterations, 1);
  const out = options.out ?? `runs/compare-${environment.name}-${recipes.map((r) => r.id).join("-")}`;
  const control = new AbortController();
  const plan: Plan = {
    environment,
    engine: options.engine,
    out,
    iterations,
    ...(options.episodes === undefined ? {} : { episodes: statedNumber("--episodes", options.episodes, 1) }),
    tasks: statedNumber("--tasks", options.tasks, 1),
    contextTokens: statedNumber("--context-tokens", options.contextTokens, 8, 2 ** 24),
    set,
    stop: control.signal,
    io,
  };
  mkdirSync(out, { recursive: true });
  const unheard = onSignal(() => {
    io.error("Saving; the same command goes on. Ctrl-C again ends at once.");
    control.abort();
  });
  try {
    const chosen = new Map<string, Choice>();
    const runs: ComparedRun[] = [];
    const tuningSeeds = statedNumber("--tuning-seeds", options.tuningSeeds, 1);
    const grids = recipes.map((recipe) => gridOf(listsFor(recipe, lists)).length);
    const tuning = grids.reduce((sum, choices) => sum + choices * tuningSeeds, 0);
    const total = recipes.length * seeds + tuning;
    const words = [planned(recipes.length, seeds, tuning, plan)];
    if (options.env === undefined) words.push(usualWords(total, plan));
    for (const line of words) folded(io, line).forEach(io.error);
    const trainedShares = trainedSharesOf(splits, measuredSplits(environment));
    const tell = comparisonReporter(total, trainedShares, io);
    for (const recipe of recipes) {
      const own = listsFor(recipe, lists);
      if (Object.keys(own).length > 0)
        chosen.set(recipe.id, await tuned(recipe, own, tuningSeeds, plan, tell));
    }
    // seed by seed, so that a comparison that is cut short has whole pairs
    const list = Array.from({ length: seeds }, (_, i) => first + i);
    for (const seed of list)
      for (const recipe of recipes)
        runs.push(
          await tell(recipe.id, seed, (onEvent) =>
            oneRun(recipe, seed, plan, onEvent, chosen.get(recipe.id)),
          ),
        );
    const { engine, episodes } = plan;
    const about = {
      env: environment.name,
      engine,
      seeds: list,
      iterations,
      ...(episodes === undefined ? {} : { episodes }),
      ...(Object.keys(set).length > 0 && { set }),
      ...(Object.keys(trainedShares).length > 0 && { trainedShares }),
      weightFree: recipes.flatMap(({ id, weightFree }) => (weightFree ? [id] : [])),
    };
    const comparison = compareRuns(about, runs, chosen);
    await replaceFile(join(out, "report.json"), `${JSON.stringify(comparison, null, 1)}\n`);
    await replaceFile(join(out, "report.md"), comparisonPage(comparison));
    io.record({ type: "comparison", out, ...comparison });
    const shown = io.terminal ? comparisonTables(comparison, io) : [comparisonPage(comparison)];
    io.say("", ...shown, `Written: ${join(out, "report.md")} and report.json`);
  } catch (e) {
    if (!control.signal.aborted || e !== control.signal.reason) throw e;
    io.code = 130;
  } finally {
    unheard();
  }
}

/** @throws WhetstoneError where splits are held out and none of them has a task to compare on. */
function requireHeldOutTasks(environment: Environment, splits: Examination["splits"]): void {
  const heldOut = heldOutSplits(environment);
  if (heldOut.length === 0 || splits.some(({ name, tasks }) => heldOut.includes(name) && tasks.length > 0))
    return;
  throw new WhetstoneError("option.range", {
    where: "--env",
    got: `${environment.name}, whose ${heldOut.map((name) => `tasks("${name}")`).join(" and ")} ${heldOut.length === 1 ? "is" : "are"} empty`,
    expected: "held-out tasks to compare on",
    fix: "Give them tasks, or take the empty split out of `splits`.",
  });
}

/** By split that is compared on, the share of its tasks that are trained on as well, where there are any. */
const trainedSharesOf = (
  splits: Examination["splits"],
  compared: readonly string[],
): Record<string, number> =>
  Object.fromEntries(
    splits.flatMap(({ name, tasks, trained }) =>
      trained > 0 && compared.includes(name) ? [[name, trained / tasks.length]] : [],
    ),
  );

/** The best combination of some values for a method, by success in training, on seeds of its own. */
async function tuned(
  recipe: Recipe,
  lists: Lists,
  seeds: number,
  plan: Plan,
  tell: ReportRun,
): Promise<Choice> {
  const worth: number[] = [];
  const grid = gridOf(lists);
  for (const choice of grid) {
    const runs: ComparedRun[] = [];
    for (let i = 0; i < seeds; i++) {
      const seed = firstTuningSeed + i;
      runs.push(
        await tell(`${recipe.id} at ${choiceWords(choice)}`, seed, (onEvent) =>
          oneRun(recipe, seed, plan, onEvent, choice),
        ),
      );
    }
    worth.push(mean(runs.map((r) => mean(r.curve))));
  }
  const best = grid[worth.indexOf(Math.max(...worth))]!;
  for (const name of atEdge(best, lists)) {
    const what = name === "learningRate" ? "step size" : name;
    plan.io.error(`${recipe.id}: the best ${what}, ${best[name]}, lies at the list's edge.`);
  }
  return best;
}

/** One run, or what the folder remembers of it. */
async function oneRun(
  recipe: Recipe,
  seed: number,
  plan: Plan,
  onEvent: (event: RunEvent) => void,
  tuned: Choice = {},
): Promise<ComparedRun> {
  const { environment, out, episodes, tasks, contextTokens, stop } = plan;
  const choice = choiceFor(recipe, { ...plan.set, ...tuned });
  const iterations = iterationsOf(recipe, choice, plan);
  const name = `${recipe.id}${tagOf(choice)}-${seed}`;
  const memory = join(out, "runs.jsonl");
  const known = remembered(memory, name, iterations);
  if (known) return known;
  stop.throwIfAborted();
  const { train } = await import("../train/run.ts");
  const engine = await startedFrom(await startingWeights(seed, plan), plan.engine);
  const folder = join(out, name);
  const warn = warnings(name, plan.io);
  const store = join(out, "whetstone.sqlite");
  const began = performance.now();
  try {
    const learningRate = engine.learningRate === undefined ? {} : { learningRate: engine.learningRate };
    const done = await train(
      {
        environment,
        method: buildWith(recipe, learningRate, choice),
        engine,
        seed,
        iterations,
        ...(episodes === undefined ? {} : { episodes }),
        contextTokens,
        out: folder,
        store,
        resume: existsSync(join(folder, "run.json")),
        warmStart: false,
        evaluation: { tasks, every: 0 },
      },
      (event) => {
        warn(event);
        onEvent(event);
      },
      stop,
    );
    const curves = await readStore(store, done.out);
    const run: ComparedRun = {
      method: recipe.id,
      seed,
      heldOut: Object.fromEntries(
        done.after.filter((e) => e.mode === "sampled" && e.tasks > 0).map((e) => [e.split, e.success.mean]),
      ),
      ...curves,
      seconds: (performance.now() - began) / 1000,
    };
    appendFileSync(memory, `${JSON.stringify({ name, iterations, run })}\n`);
    return run;
  } finally {
    await engine.dispose();
  }
}

/** Updates that a run is planned for: as stated, or as many as its episodes are enough for. */
function iterationsOf(recipe: Recipe, choice: Choice, plan: Plan): number {
  const { environment, iterations, episodes } = plan;
  if (episodes === undefined) return iterations;
  const { tasks, groupSize } = { ...recipe.defaults, ...(choice as Partial<Settings>) };
  // no task is played twice in an iteration
  const trained = Math.min(tasks, environment.tasks("train").length);
  return recipe.weightFree ? episodes : Math.ceil(episodes / (trained * groupSize));
}

function remembered(memory: string, name: string, iterations: number): ComparedRun | undefined {
  if (!existsSync(memory)) return undefined;
  for (const line of readFileSync(memory, "utf8").split("\n").slice(0, -1)) {
    const entry = JSON.parse(line) as { name: string; iterations: number; run: ComparedRun };
    if (entry.name === name && entry.iterations === iterations) return entry.run;
  }
  return undefined;
}

const warnings =
  (name: string, io: Io) =>
  (event: RunEvent): void => {
    // what is wrong with the environment was said once, before the first run
    if (event.type === "warning" && event.check === undefined) io.error(`${name}: ${event.message}`);
  };

async function readStore(
  file: string,
  run: string,
): Promise<Pick<ComparedRun, "curve" | "episodes" | "tokens">> {
  const store = await openRunStore(file);
  try {
    const metrics = await store.metrics(run);
    const of = (name: string): number[] =>
      metrics
        .filter((m) => m.name === name)
        .sort((a, b) => a.iteration - b.iteration)
        .map((m) => m.value);
    return {
      curve: of("success"),
      episodes: of("total.episodes").at(-1) ?? 0,
      tokens: of("total.tokens.sampled").at(-1) ?? 0,
    };
  } finally {
    await store.close();
  }
}

/** The policy of a seed before any training, where the environment has somebody to imitate: made once for all methods. */
async function startingWeights(seed: number, plan: Plan): Promise<string | undefined> {
  const { environment, out, contextTokens, stop, io } = plan;
  if (!environment.flawed) return undefined;
  const folder = join(out, `start-${seed}`);
  const weights = join(folder, "final");
  if (existsSync(weights)) return weights;
  const { train } = await import("../train/run.ts");
  const engine = await engineFor(plan.engine);
  io.error(`start-${seed}: the policy that all methods begin from imitates a scripted player first`);
  try {
    await train(
      {
        environment,
        method: requireMethod("whetstone compare", "grpo").build(),
        engine,
        seed,
        iterations: 0,
        contextTokens,
        out: folder,
        store: join(out, "whetstone.sqlite"),
        resume: existsSync(join(folder, "run.json")),
        evaluation: { tasks: 0, every: 0 },
      },
      warnings(`start-${seed}`, io),
      stop,
    );
  } finally {
    await engine.dispose();
  }
  return weights;
}

/** An engine whose policies begin from these weights; further models of a method begin as they would. */
async function startedFrom(weights: string | undefined, name: string): Promise<Engine> {
  const engine = await engineFor(name);
  if (weights === undefined) return engine;
  return {
    ...engine,
    create: (request) => (request.id === "policy" ? engine.open("policy", weights) : engine.create(request)),
  };
}

/** An engine by its name, or the one that a module exports. */
async function engineFor(name: string): Promise<Engine> {
  const known = engineNames.find((one) => one === name);
  if (known) return await makeEngine(known);
  if (!/\.[cm]?[jt]s$/.test(name)) throw unknownName("--engine", name, engineNames);
  const made = await loadModule(name);
  if (isEngine(made)) return made;
  throw new WhetstoneError("config.invalid", {
    where: name,
    got: "a default export that is no engine",
    expected: "one with name, create and open",
    fix: "Export the engine by default: export default tabularEngine({ … }).",
  });
}

const isEngine = (made: unknown): made is Engine =>
  typeof made === "object" && made !== null && "create" in made && "open" in made && "dispose" in made;

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && Number.isFinite(value)) return value;
  throw new WhetstoneError("option.range", {
    where: flag,
    got: `"${text}"`,
    expected: "numbers above 0 with commas between",
    fix: "For example 2e-4,5e-4,1e-3.",
  });
}
