// The closed loop over several seeds: what users get is truly worth, before and after, of three learners.
//
//     node bench/closed-loop.ts            # what lies in bench/results/closed-loop.jsonl is not run again
//
// Writes bench/results/closed-loop.md and docs/closed-loop.svg. Settings were chosen on seeds from 100 on.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { allLearners } from "../scripts/closed-loop/learners.ts";
import { closedLoop, firstVersion, policySize, type Round, usualPlan } from "../scripts/closed-loop/loop.ts";
import { messageOf } from "../src/core/errors.ts";
import { replaceFile } from "../src/core/files.ts";
import { type Interval, meanInterval, pairedInterval } from "../src/core/statistics.ts";
import { localEngine } from "../src/engine/local/index.ts";
import { chart } from "./closed-loop/chart.ts";
import { progress } from "./report.ts";

interface Given {
  readonly first: number;
  readonly seeds: number;
  readonly results: string;
  readonly page: string;
  readonly picture: string;
}

/** One learner's run of one seed. */
interface Run {
  readonly seed: number;
  readonly learner: string;
  readonly seconds: number;
  readonly rounds: readonly Round[];
}

const keptIn = (file: string): Run[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((text) => text !== "")
        .map((text): Run => JSON.parse(text))
    : [];

/** Runs what has not been run, each appended to the file as it is done. */
async function run(seed: number, results: string, stop: AbortSignal): Promise<void> {
  const done = keptIn(results).filter((one) => one.seed === seed);
  const open = allLearners.filter(({ name }) => !done.some((one) => one.learner === name));
  if (open.length === 0) return;
  const engine = localEngine({ threads: 1, size: policySize });
  try {
    const setting = { engine, seed, plan: usualPlan, stop, report: () => {} };
    const first = await firstVersion(setting);
    for (const learner of open) {
      const began = performance.now();
      const rounds = await closedLoop(learner, first, setting);
      const seconds = (performance.now() - began) / 1000;
      appendFileSync(results, `${JSON.stringify({ seed, learner: learner.name, seconds, rounds })}\n`);
      progress(`seed ${seed}, ${learner.name}: ${before(rounds).toFixed(2)} → ${after(rounds).toFixed(2)}`);
    }
  } finally {
    await engine.dispose();
  }
}

const before = (rounds: readonly Round[]): number => rounds[0]!.utility;
const after = (rounds: readonly Round[]): number => rounds.at(-1)!.utility;
const two = (x: number): string => x.toFixed(2).replace("-", "−");
const said = ({ mean, low, high }: Interval): string => `${two(mean)} [${two(low)}, ${two(high)}]`;

/** The runs of one learner in the order of their seeds. */
const of = (runs: readonly Run[], name: string): readonly Run[] =>
  runs.filter(({ learner }) => learner === name).sort((a, b) => a.seed - b.seed);

function page(runs: readonly Run[], seeds: readonly number[]): string {
  const ends = (name: string): number[] => of(runs, name).map(({ rounds }) => after(rounds));
  const rows = allLearners.map(({ name, what }) => {
    const own = of(runs, name);
    const gains = own.map(({ rounds }) => after(rounds) - before(rounds));
    const promoted = own.flatMap(({ rounds }) => rounds.filter((r) => r.decision === "promote")).length;
    const start = meanInterval(own.map(({ rounds }) => before(rounds)));
    const rose = gains.filter((gain) => gain > 0).length;
    return `| ${name} | ${what} | ${two(start.mean)} | ${said(meanInterval(ends(name)))} | ${said(meanInterval(gains))} | ${rose} of ${own.length} | ${two(promoted / own.length)} |`;
  });
  const [naive, debiased, plain] = allLearners.map(({ name }) => name);
  const single = seeds.map((seed) => {
    const cells = allLearners.map(({ name }) => {
      const one = runs.find((r) => r.seed === seed && r.learner === name);
      return one ? `${two(before(one.rounds))} → ${two(after(one.rounds))}` : "";
    });
    return `| ${seed} | ${cells.join(" | ")} |`;
  });
  const beaten = ends(debiased!).filter((x, i) => x > ends(naive!)[i]!).length;
  return `# The closed loop

Written by \`node bench/closed-loop.ts\`. True utility of what users get, in [0, 1]; means over ${seeds.length} seeds with
95 % t intervals; each seed: ${usualPlan.rounds} versions learnt, ${usualPlan.visits} visits a round.

| learner | learns from | before | after | gain | rose in | versions promoted |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join("\n")}

- ${debiased} less ${naive}, after: ${said(pairedInterval(ends(debiased!), ends(naive!)))}; ahead in ${beaten} of ${seeds.length} seeds.
- ${debiased} less ${plain}, after: ${said(pairedInterval(ends(debiased!), ends(plain!)))}.

| seed | ${allLearners.map(({ name }) => name).join(" | ")} |
| --- | --- | --- | --- |
${single.join("\n")}
`;
}

async function measure({ first, seeds: count, results, page: target, picture }: Given, stop: AbortSignal) {
  const seeds = Array.from({ length: count }, (_, i) => first + i);
  for (const seed of seeds) await run(seed, results, stop);
  const runs = keptIn(results).filter(({ seed }) => seeds.includes(seed));
  await replaceFile(target, page(runs, seeds));
  const lines = allLearners.map(({ name }) => ({
    name,
    at: Array.from({ length: usualPlan.rounds + 2 }, (_, round) =>
      meanInterval(of(runs, name).map(({ rounds }) => rounds[round]!.utility)),
    ),
  }));
  await replaceFile(
    picture,
    chart(lines, "True utility by round, of learners from thumbs and from outcomes."),
  );
  progress(`${target} and ${picture} are written`);
}

function count(text: string): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1) throw new InvalidArgumentError("Give a whole number of 1 or more.");
  return n;
}

const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
const here = (path: string): string => join(import.meta.dirname, path);
try {
  await new Command("closed-loop")
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .description("The closed loop over several seeds, with intervals.")
    .option("--first <n>", "first seed", count, 1)
    .option("--seeds <n>", "how many", count, 8)
    .option("--results <file>", "finished runs, a line each", here("results/closed-loop.jsonl"))
    .option("--page <file>", "tables", here("results/closed-loop.md"))
    .option("--picture <file>", "curves", here("../docs/closed-loop.svg"))
    .addHelpText("after", "\nCtrl-C keeps every finished run; the next start goes on from there.")
    .action((given: Given) => measure(given, stop.signal))
    .parseAsync();
} catch (e) {
  process.stderr.write(
    stop.signal.aborted ? "Interrupted; finished runs are kept.\n" : `closed-loop: ${messageOf(e)}\n`,
  );
  process.exit(stop.signal.aborted ? 130 : 1);
}
