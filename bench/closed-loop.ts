// The closed loop over several seeds: what users get is truly worth, before and after, of several learners.
//
//     node bench/closed-loop.ts            # what lies in bench/results/closed-loop.jsonl is not run again
//
// Writes bench/results/closed-loop.md, the measured part of docs/closed-loop.md and its picture. Settings were chosen on seeds from 100 on.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { allLearners } from "../scripts/closed-loop/learners.ts";
import { closedLoop, firstVersion, policySize, type Round, usualPlan } from "../scripts/closed-loop/loop.ts";
import { replaceFile } from "../src/common/files/files.ts";
import { meanInterval, pairedInterval } from "../src/common/statistics/statistics.ts";
import { messageOf } from "../src/core/errors.ts";
import type { Interval } from "../src/core/interval.ts";
import { localEngine } from "../src/engine/local/index.ts";
import { chart } from "./closed-loop/chart.ts";
import { withMeasured } from "./feedback/page.ts";
import { keptRows } from "./keptRows.ts";
import { progress } from "./report.ts";

interface Given {
  readonly first: number;
  readonly seeds: number;
  readonly learners?: readonly string[];
  readonly draw?: boolean;
  readonly results: string;
  readonly page: string;
  readonly docs: string;
}

/** One learner's run of one seed. */
interface Run {
  readonly seed: number;
  readonly learner: string;
  readonly seconds: number;
  readonly rounds: readonly Round[];
}

/** Runs what has not been run, each appended to the file as it is done. */
async function run(seed: number, { learners, results }: Given, stop: AbortSignal): Promise<void> {
  const done = keptRows<Run>(results).filter((one) => one.seed === seed);
  const open = allLearners.filter(
    ({ name }) => (learners?.includes(name) ?? true) && !done.some((one) => one.learner === name),
  );
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

/** The comparisons that the page states. */
const compared = [
  ["debiased", "likes"],
  ["debiased", "outcomes"],
  ["audited", "likes"],
  ["audited", "both"],
  ["audited", "corrections"],
  ["audited", "imitation"],
] as const;
/** The learners of the picture: with all of them it could not be read. */
const drawn = ["likes", "debiased", "audited", "imitation"] as const;

/** The runs of one learner in the order of their seeds. */
const of = (runs: readonly Run[], name: string): readonly Run[] =>
  runs.filter(({ learner }) => learner === name).sort((a, b) => a.seed - b.seed);

function page(runs: readonly Run[], seeds: readonly number[]): string {
  const measured = allLearners.filter(({ name }) => of(runs, name).length > 0);
  const endOf = (seed: number, name: string): Run | undefined =>
    runs.find((one) => one.seed === seed && one.learner === name);
  /** What the first was better by in the end, over the seeds that both have. */
  const against = (name: string, other: string): string => {
    const both = seeds.flatMap((seed) => {
      const [a, b] = [endOf(seed, name), endOf(seed, other)];
      return a && b ? [[after(a.rounds), after(b.rounds)] as const] : [];
    });
    const interval = pairedInterval(
      both.map(([a]) => a),
      both.map(([, b]) => b),
    );
    const ahead = both.filter(([a, b]) => a > b).length;
    return `- ${name} less ${other}, after: ${said(interval)}; ahead in ${ahead} of ${both.length} seeds.`;
  };
  const rows = measured.map(({ name, what }) => {
    const own = of(runs, name);
    const gains = own.map(({ rounds }) => after(rounds) - before(rounds));
    const promoted = own.flatMap(({ rounds }) => rounds.filter((r) => r.decision === "promote")).length;
    const cells = [
      name,
      what,
      two(meanInterval(own.map(({ rounds }) => before(rounds))).mean),
      said(meanInterval(own.map(({ rounds }) => after(rounds)))),
      said(meanInterval(gains)),
      `${gains.filter((gain) => gain > 0).length} of ${own.length}`,
      two(promoted / own.length),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  const single = seeds.map((seed) => {
    const cells = measured.map(({ name }) => {
      const one = endOf(seed, name);
      return one ? `${two(before(one.rounds))} → ${two(after(one.rounds))}` : "not run";
    });
    return `| ${seed} | ${cells.join(" | ")} |`;
  });
  return `True utility of what users get, in [0, 1]; means over seeds ${seeds[0]} to ${seeds.at(-1)} with 95 % t intervals. Each run: ${usualPlan.rounds} versions
learnt one after the other, ${usualPlan.visits} visits a round.

| learner | learns from | before | after | gain | rose in | versions promoted |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join("\n")}

${compared.map(([name, other]) => against(name, other)).join("\n")}

| seed | ${measured.map(({ name }) => name).join(" | ")} |
| --- |${" --- |".repeat(measured.length)}
${single.join("\n")}`;
}

async function measure(given: Given, stop: AbortSignal): Promise<void> {
  const { first, seeds: count, results, page: target, docs } = given;
  const picture = docs.replace(/\.md$/, ".svg");
  const seeds = Array.from({ length: count }, (_, i) => first + i);
  for (const seed of given.draw ? [] : seeds) await run(seed, given, stop);
  const runs = keptRows<Run>(results).filter(({ seed }) => seeds.includes(seed));
  if (given.learners) return progress("Some learners alone make no page: leave out --learners for one.");
  const found = page(runs, seeds);
  await replaceFile(target, `# The closed loop\n\nWritten by \`node bench/closed-loop.ts\`.\n\n${found}\n`);
  await replaceFile(docs, withMeasured(readFileSync(docs, "utf8"), found, "bench/closed-loop.ts"));
  const shown = drawn.filter((name) => of(runs, name).length > 0);
  const lines = shown.map((name) => ({
    name,
    at: Array.from({ length: usualPlan.rounds + 2 }, (_, round) =>
      meanInterval(of(runs, name).map(({ rounds }) => rounds[round]!.utility)),
    ),
  }));
  await replaceFile(
    picture,
    chart(lines, "True utility by round, of learners from thumbs, from outcomes and from corrections."),
  );
  progress(`${target}, ${docs} and its picture are written`);
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
    .option("--learners <names...>", `some of them: ${allLearners.map(({ name }) => name).join(", ")}`)
    .option("--draw", "run nothing; the page of what has been run")
    .option("--results <file>", "finished runs, a line each", here("results/closed-loop.jsonl"))
    .option("--page <file>", "tables", here("results/closed-loop.md"))
    .option(
      "--docs <file>",
      "the page whose measured part is written, and its picture beside it",
      here("../docs/closed-loop.md"),
    )
    .addHelpText("after", "\nCtrl-C keeps every finished run; the next start goes on from there.")
    .action((given: Given) => measure(given, stop.signal))
    .parseAsync();
} catch (e) {
  process.stderr.write(
    stop.signal.aborted ? "Interrupted; finished runs are kept.\n" : `closed-loop: ${messageOf(e)}\n`,
  );
  process.exit(stop.signal.aborted ? 130 : 1);
}
