// Runs on a server of the Tinker API while networks, servers and clients fail: each must end with the weights of an
// undisturbed run, or stop with a clear error and be resumed to them.
//
//     node bench/tinker-faults.ts [--rounds 5] [--iterations 6] [--seed 1] [--only network,server]
//
// Server, client and the network between them are processes and sockets of their own. Writes bench/results/tinker-faults.md.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { randomStream } from "../src/core/random.ts";
import { progress } from "./report.ts";
import { type Outcome, runThrough, type Trouble, troubleNames, troubles } from "./tinker-faults/rounds.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    iterations: { type: "string", default: "6" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: troubleNames.join(",") },
    out: { type: "string", default: join(import.meta.dirname, "results", "tinker-faults.md") },
  },
});
const [rounds, iterations] = [Number(values.rounds), Number(values.iterations)];
const chosen = troubleNames.filter((name) => values.only.split(",").includes(name));
const random = randomStream(Number(values.seed));
const folder = mkdtempSync(join(tmpdir(), "whetstone-faults-"));
const place = { folder, iterations, kills: 2 };
try {
  const calm = await runThrough("none", "a", place, random.split("none", 0), 0);
  const again = await runThrough("none", "b", place, random.split("none", 1), 0);
  if (again.digest !== calm.digest) throw new Error("two undisturbed runs differ");
  progress(`undisturbed: ${calm.seconds.toFixed(1)} s, ${calm.digest}`);
  const outcomes: Outcome[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const trouble of chosen) {
      const outcome = await runThrough(trouble, `${round}`, place, random.split(trouble, round), calm.pace);
      outcomes.push(outcome);
      const same = outcome.digest === calm.digest ? "the same weights" : "OTHER WEIGHTS";
      progress(`${trouble} ${round + 1} of ${rounds}: ${same}, resumed ${outcome.resumed} times`);
    }
  }
  const text = page(outcomes, calm.digest);
  writeFileSync(values.out, text);
  process.stdout.write(text);
  process.exitCode = outcomes.every(({ digest }) => digest === calm.digest) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function page(outcomes: readonly Outcome[], digest: string): string {
  const row = (trouble: Trouble): string => {
    const of = outcomes.filter((outcome) => outcome.trouble === trouble);
    const sum = (count: (outcome: Outcome) => number): number => of.reduce((n, one) => n + count(one), 0);
    const faults = sum((one) => Object.values(one.faults).reduce((n, k) => n + k, 0));
    const same = sum((one) => Number(one.digest === digest));
    const stopped = sum(({ said }) => said.length);
    return `| ${troubles[trouble]} | ${of.length} | ${faults} | ${sum(({ kills }) => kills)} | ${stopped} | ${sum(({ resumed }) => resumed)} | ${same} of ${of.length} |`;
  };
  const said = [
    ...new Set(
      outcomes.flatMap((one) => one.said.map((words) => words.replaceAll(/[0-9a-f]{8}[0-9a-f-]*/g, "…"))),
    ),
  ];
  return `# A server of the Tinker API, and what can go wrong on the way to it

Written by \`node bench/tinker-faults.ts --rounds ${rounds}\`. Each run is GRPO over ${iterations} iterations, with a checkpoint after each,
against \`serve/tinker\`; server, client and the network between them are processes and sockets of their own. "The same
weights" means bytes: adapter, optimiser's state and the count of steps are those of a run that nothing disturbed.
${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.versions.node}.

| what goes wrong | runs | faults | kills | stopped with an error | resumed | the same weights |
|---|---|---|---|---|---|---|
${chosen.map(row).join("\n")}

What clients said that stopped:

${said
  .slice(0, 12)
  .map((words) => `- ${words}`)
  .join("\n")}
`;
}
