/** `whetstone compare`: methods beside each other, from the same starting weights, at equal budgets. */
import { basename, join } from "node:path";
import type { Command } from "commander";
import { replaceFile } from "../common/files/files.ts";
import { counted } from "../common/text/counted.ts";
import { WhetstoneError } from "../core/errors.ts";
import { findingLine } from "../core/finding.ts";
import { type Examination, examine, quickly, requireSound } from "../diagnose/environment/validate.ts";
import type { Engine } from "../engine/engine.ts";
import type { Environment } from "../env/environment.ts";
import type { Recipe } from "../method/method.ts";
import type { Settings } from "../method/settings.ts";
import { loadMethod } from "../methods/load.ts";
import { type Comparison, compareRuns, comparisonPage, warningsOf } from "../train/compare.ts";
import type { ComparisonPlan, ComparisonWatch, Contender } from "../train/comparison.ts";
import { rehearse } from "../train/rehearsal.ts";
import { heldOutSplits, measuredSplits } from "../train/splits.ts";
import { requireEnvironment } from "./catalogue.ts";
import { git } from "./checkProtocol.ts";
import {
  addNamed,
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
import { engineFor } from "./comparedEngine.ts";
import { comparisonProgress, comparisonTables } from "./comparisonReport.ts";
import { onSignal } from "./interrupted.ts";
import { statedNumber } from "./numbers.ts";
import { addSet } from "./options.ts";
import { addCommand, duration, folded, type Io } from "./output.ts";
import { packageVersion } from "./packageSource.ts";

interface CompareOptions {
  readonly env?: string;
  readonly engine: string;
  readonly model?: string;
  readonly lora?: string;
  readonly threads?: string;
  readonly seeds: string;
  readonly seed: string;
  readonly iterations: string;
  readonly episodes?: string;
  readonly rates?: string;
  readonly set?: Choice;
  /** False with --no-tune. */
  readonly tune?: Choice | false;
  readonly tuningSeeds: string;
  readonly out?: string;
  readonly contextTokens?: string;
  readonly tasks: string;
}

export function addCompare(program: Command, io: Io): void {
  const command = addCommand(
    program,
    "compare",
    "Compare methods: same environment, seeds and budget, paired intervals.",
    [
      "whetstone compare grpo rloo reinforce --env contextual-bandit --engine tabular --seeds 8",
      "whetstone compare grpo igpo turn-ppo --env facts    # each with the best of three step sizes",
      "whetstone compare grpo igpo turn-ppo --env facts --no-tune    # a first look: a fourth of the runs",
      "whetstone compare grpo gspo --env facts --rates 2e-4,5e-4,1e-3",
      "whetstone compare grpo igpo --env facts --tune learningRate=2e-4,5e-4 --tune discount=0.9,1",
      "whetstone compare grpo dr-grpo --env extract.ts --model SmolLM2-135M-Instruct.Q4_1.gguf --lora 16 --seeds 3 --iterations 4",
      "whetstone compare grpo gepa --env world.ts --engine engine.ts --episodes 640    # with and without weights",
    ],
  )
    .argument("<methods...>", "two or more methods; the others are compared with the first")
    .option("--env <name>", `environment, or a module that exports one (default: ${usualEnv})`)
    .option("--engine <name>", "engine: local, tabular, or a module that exports one", "local")
    .option("--model <folder|file.gguf|owner/name>", "pretrained model that every run begins from")
    .option("--lora <rank>", "train a LoRA adapter of this rank instead of all weights")
    .option("--threads <n>", "threads of the engine (default: one per core)")
    .option("--seeds <n>", "runs of each method", "5")
    .option("--seed <n>", "first seed", "1")
    .option("--iterations <n>", "iterations of each run; all methods get the same number of episodes", "80")
    .option(
      "--episodes <n>",
      "in place of --iterations: training ends after so many episodes, including those that selection plays",
    )
    .option(
      "--rates <list>",
      "learning rates to tune over, the same as --tune learningRate=<list> (default: half, once and twice each method's default)",
    )
    .option("--tuning-seeds <n>", "tuning runs for each combination of values", "5")
    .option("--tasks <n>", "held-out tasks per split", "200")
    .option(
      "--context-tokens <n>",
      "longest sequence (default: what the pretrained model and the memory allow, or 128 without one)",
    )
    .option(
      "--out <folder>",
      "folder of the comparison; with an existing one, the comparison resumes (default: runs/compare-<env>-…)",
    )
    .action(async (ids: string[], options: CompareOptions) => {
      await compare(ids, options, io);
    });
  addSet(command);
  addNamed(
    command,
    "--tune <name=list>",
    "grid search, for each method that has this option or setting, on seeds that are not reported",
  );
  command.option("--no-tune", "tune nothing: every method runs with its default settings, or those of --set");
}

/** What is compared on where no --env is named, and about how many seconds a run of its default size takes on two cores. */
const [usualEnv, usualSeconds, usualIterations] = ["facts", 150, 80];

/** Multiples of a method's default step size that are tried where nobody says which. */
const usualMultiples = [0.5, 1, 2];

/** What is about to be done. */
function planned(plan: ComparisonPlan, engine: string, tuning: number): string {
  const { environment, contenders, seeds, iterations, episodes, out } = plan;
  const each = episodes === undefined ? counted(iterations, "iteration") : counted(episodes, "episode");
  const more = tuning > 0 ? `, ${tuning} more to tune` : "";
  const runs = contenders.length * seeds.length + tuning;
  return `${contenders.length} methods × ${counted(seeds.length, "seed")}${more}: ${runs} runs of ${each} on ${environment.name}, ${engine} engine, kept in ${out}. Finished runs are not repeated.`;
}

/** How long all of it takes, as far as that is known before the first run. */
function timeWords(total: number, engine: string, plan: ComparisonPlan): string {
  const { environment, iterations, episodes } = plan;
  return engine === "local" && environment.name === usualEnv && episodes === undefined
    ? `About ${duration((total * usualSeconds * iterations) / usualIterations)} on two cores.`
    : "How long that takes is said soon after the first run has begun.";
}

/** How the settings of each method are chosen. */
function tuningWords({ contenders, tuningSeeds }: ComparisonPlan): string {
  const tuned = contenders.filter(({ grid }) => grid.length > 1);
  if (tuned.length === 0) return "Nothing is tuned.";
  const gridWords = ({ grid }: Contender): string =>
    grid.every((choice) => Object.keys(choice).join() === "learningRate")
      ? `step sizes ${grid.map(choiceWords).join(", ")}`
      : grid.map(choiceWords).join("; ");
  const grids = [...Map.groupBy(tuned, gridWords)];
  const said = grids.map(
    ([grid, here]) => `${grids.length > 1 ? `${here.map(({ id }) => id).join(", ")}: ` : ""}${grid}`,
  );
  return `Tuned on ${counted(tuningSeeds, "other seed")}: ${said.join(". ")}. --no-tune leaves that out.`;
}

async function compare(ids: readonly string[], options: CompareOptions, io: Io): Promise<void> {
  const recipes = await Promise.all([...new Set(ids)].map((id) => loadMethod(id, "compare")));
  if (recipes.length < 2) {
    throw new WhetstoneError("option.range", {
      where: "compare",
      got: `${recipes.length} method`,
      expected: "two or more different methods",
      fix: "Name the baseline first, then the methods to compare with it.",
    });
  }
  const { set, lists } = statedChoices(options, recipes);
  // also where nothing is tuned: what is wrong with its options is said before any work
  const engine = await engineFor(options);
  await engine.dispose();
  const rates = usualRates(engine, options, set, lists);
  const environment = await requireEnvironment("--env", options.env ?? usualEnv);
  const { findings, splits } = await examine(environment, quickly);
  requireSound(environment.name, findings);
  requireHeldOutTasks(environment, splits);
  for (const finding of findings) io.error(`warning: ${findingLine(finding)}`);
  const [seeds, first] = [statedNumber("--seeds", options.seeds, 1), statedNumber("--seed", options.seed)];
  const control = new AbortController();
  const plan: ComparisonPlan = {
    environment,
    engine: () => engineFor(options),
    contenders: recipes.map((recipe) => contender(recipe, set, tunedLists(recipe, lists, rates))),
    imitator: (await loadMethod("grpo", "compare")).build(),
    out: options.out ?? `runs/compare-${environment.name}-${recipes.map((r) => r.id).join("-")}`,
    seeds: Array.from({ length: seeds }, (_, i) => first + i),
    tuningSeeds: statedNumber("--tuning-seeds", options.tuningSeeds, 1),
    iterations: statedNumber("--iterations", options.iterations, 1),
    episodes: options.episodes === undefined ? undefined : statedNumber("--episodes", options.episodes, 1),
    tasks: statedNumber("--tasks", options.tasks, 1),
    contextTokens:
      options.contextTokens === undefined
        ? undefined
        : statedNumber("--context-tokens", options.contextTokens, 8, 2 ** 24),
    code: runningCode(),
    stop: control.signal,
  };
  const trainedShares = trainedSharesOf(splits, measuredSplits(environment));
  const unheard = onSignal(() => {
    io.error("Saving. The same command resumes. Press Ctrl-C again to end at once.");
    control.abort();
  });
  try {
    const watch = watchOf(plan, { options, trainedShares }, io);
    const { comparedRuns } = await import("../train/comparison.ts");
    await rehearse(plan, (id) => io.error(`${id}: rehearses a small iteration`));
    const { runs, tuned } = await comparedRuns(plan, watch);
    const about = {
      env: environment.name,
      engine: options.engine,
      ...(options.model !== undefined && { model: modelWords(options.model, options.lora) }),
      seeds: plan.seeds,
      tuningSeeds: plan.contenders.some(({ grid }) => grid.length > 1) ? plan.tuningSeeds : 0,
      iterations: plan.iterations,
      ...(plan.episodes === undefined ? {} : { episodes: plan.episodes }),
      ...(Object.keys(set).length > 0 && { set }),
      ...(Object.keys(trainedShares).length > 0 && { trainedShares }),
      weightFree: plan.contenders.flatMap(({ id, weightFree }) => (weightFree ? [id] : [])),
    };
    await report(plan.out, compareRuns(about, runs, tuned), io);
  } catch (e) {
    if (!control.signal.aborted || e !== control.signal.reason) throw e;
    io.code = 130;
  } finally {
    unheard();
  }
}

async function report(out: string, comparison: Comparison, io: Io): Promise<void> {
  await replaceFile(join(out, "report.json"), `${JSON.stringify(comparison, null, 1)}\n`);
  await replaceFile(join(out, "report.md"), comparisonPage(comparison));
  io.record({ type: "comparison", out, ...comparison });
  const shown = io.terminal ? comparisonTables(comparison, io) : [comparisonPage(comparison)];
  for (const warning of warningsOf(comparison)) io.error(`warning: ${warning}`);
  io.say("", ...shown, `Written: ${join(out, "report.md")} and report.json`);
}

/** What holds for all methods, and values to tune over, by name. What cannot be built is refused before anything runs. */
function statedChoices({ set: typed = {}, rates, tune = {} }: CompareOptions, recipes: readonly Recipe[]) {
  for (const rate of rates?.split(",") ?? []) positive("--rates", rate);
  if (tune === false && rates !== undefined) throw tunedAndNot();
  const lists = listsOf({ ...(rates === undefined ? {} : { learningRate: rates }), ...(tune || {}) });
  requireKnown("--set", Object.keys(typed), recipes);
  const set: Choice = Object.assign({}, ...recipes.map((recipe) => choiceFor(recipe, typed)));
  requireKnown("--tune", Object.keys(lists), recipes);
  for (const recipe of recipes)
    for (const choice of [{}, ...gridOf(listsFor(recipe, lists))])
      buildWith(recipe, {}, { ...set, ...choice });
  return { set, lists };
}

const tunedAndNot = (): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "--no-tune",
    got: "--rates beside it",
    expected: "one of the two",
    fix: "Leave one out; --set learningRate=X gives every method one step size.",
  });

/** The default step size of each method with this engine; undefined where none is to be tried but what was stated. */
function usualRates(
  engine: Engine,
  options: CompareOptions,
  set: Choice,
  lists: Lists,
): ((recipe: Recipe) => number) | undefined {
  if (options.tune === false || "learningRate" in set || "learningRate" in lists) return undefined;
  return ({ defaults }) => engine.learningRate ?? defaults.learningRate;
}

/** What a method is tuned over: what was stated, and step sizes around its default. */
function tunedLists(recipe: Recipe, lists: Lists, rates: ReturnType<typeof usualRates>): Lists {
  if (!rates) return listsFor(recipe, lists);
  const around = usualMultiples.map((times) => Number((times * rates(recipe)).toPrecision(6)));
  return listsFor(recipe, { ...lists, learningRate: around });
}

/** The code that makes the runs: the clone's commit, or the package's version. */
function runningCode(): string {
  const here = import.meta.dirname;
  // an installed package may lie in somebody else's repository
  const isClone = git(here, "ls-files", "--error-unmatch", import.meta.filename) !== undefined;
  const commit = isClone ? git(here, "rev-parse", "--short=12", "HEAD") : undefined;
  if (commit === undefined) return `whetstone ${packageVersion()}`;
  const changed = git(here, "status", "--porcelain", "--", "..");
  return `commit ${commit}${changed === "" ? "" : " with changes that are not committed"}`;
}

/** @param set holds for every method that has such options or settings. @param lists of this method's values to tune over. */
const contender = (recipe: Recipe, set: Choice, lists: Lists): Contender => ({
  id: recipe.id,
  weightFree: recipe.weightFree ?? false,
  grid: gridOf(lists),
  with(tuned) {
    const choice = choiceFor(recipe, { ...set, ...tuned });
    const { tasks, groupSize } = { ...recipe.defaults, ...(choice as Partial<Settings>) };
    return {
      name: `${recipe.id}${tagOf(choice)}`,
      tasks,
      groupSize,
      build: (learningRate) => buildWith(recipe, learningRate === undefined ? {} : { learningRate }, choice),
    };
  },
});

interface Shown {
  readonly options: CompareOptions;
  readonly trainedShares: Record<string, number>;
}

/** Says what is about to be done, and then a line for every run. */
function watchOf(plan: ComparisonPlan, { options, trainedShares }: Shown, io: Io): ComparisonWatch {
  const { contenders, seeds, tuningSeeds } = plan;
  const choices = contenders.reduce((sum, { grid }) => sum + (grid.length > 1 ? grid.length : 0), 0);
  const total = contenders.length * seeds.length + choices * tuningSeeds;
  const words = [
    planned(plan, options.engine, choices * tuningSeeds),
    ...(options.env === undefined ? [`No --env is named, so that ${usualEnv} is taken.`] : []),
    tuningWords(plan),
    timeWords(total, options.engine, plan),
  ];
  for (const line of words) folded(io, line).forEach(io.error);
  const progress = comparisonProgress(total, trainedShares, io);
  return {
    begin: progress.begin,
    event(run, event) {
      progress.event(event);
      // what is wrong with the environment was said once, before the first run
      if (event.type === "warning" && event.check === undefined) io.error(`${run}: ${event.message}`);
    },
    imitates: (run) =>
      io.error(`${run}: the policy that all methods begin from imitates a scripted player first`),
    result: (id, seed, choice, run) =>
      progress.result(choice ? `${id} at ${choiceWords(choice)}` : id, seed, run),
  };
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
    fix: "Give them tasks, or remove the empty split from `splits`.",
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

const modelWords = (model: string, lora: string | undefined): string =>
  `${basename(model)}${lora === undefined ? "" : ` with a LoRA adapter of rank ${lora}`}`;

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && Number.isFinite(value)) return value;
  throw new WhetstoneError("option.range", {
    where: flag,
    got: `"${text}"`,
    expected: "numbers above 0, separated by commas",
    fix: "For example 2e-4,5e-4,1e-3.",
  });
}
