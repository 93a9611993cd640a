// Runs on a server of the Tinker API while networks, servers and clients fail: each must end with the weights of an
// undisturbed run, or stop with a clear error and be resumed to them.
//
//     node bench/tinker-faults.ts [--rounds 5] [--iterations 6] [--seed 1] [--only network,server]
//
// Server, client and the network between them are processes and sockets of their own. Writes bench/results/tinker-faults.md,
// after each round.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { randomStream } from "../src/core/random.ts";
import { progress } from "./report.ts";
import {
  type Outcome,
  runThrough,
  stalenessOf,
  type Trouble,
  troubleNames,
  troubles,
} from "./tinker-faults/rounds.ts";

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

/** Two undisturbed runs, which must agree, with rollouts so far ahead. */
async function undisturbed(staleness: number): Promise<Outcome> {
  const run = (name: string, i: number): Promise<Outcome> =>
    runThrough(
      "none",
      `${staleness}${name}`,
      { ...place, staleness },
      random.split(`none ${staleness}`, i),
      0,
    );
  const [calm, again] = [await run("a", 0), await run("b", 1)];
  if (again.digest !== calm.digest) throw new Error("two undisturbed runs differ");
  progress(`undisturbed, staleness ${staleness}: ${calm.seconds.toFixed(1)} s, ${calm.digest}`);
  return calm;
}

try {
  const stalenesses = [...new Set(chosen.map(stalenessOf))];
  const calm = new Map<number, Outcome>();
  for (const staleness of stalenesses) calm.set(staleness, await undisturbed(staleness));
  const isSame = ({ trouble, digest }: Outcome): boolean => digest === calm.get(stalenessOf(trouble))?.digest;
  const outcomes: Outcome[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const trouble of chosen) {
      const pace = calm.get(stalenessOf(trouble))?.pace ?? 0;
      const outcome = await runThrough(trouble, `${round}`, place, random.split(trouble, round), pace);
      outcomes.push(outcome);
      const same = isSame(outcome) ? "the same weights" : "OTHER WEIGHTS";
      progress(`${trouble} ${round + 1} of ${rounds}: ${same}, resumed ${outcome.resumed} times`);
    }
    writeFileSync(values.out, page(outcomes, isSame));
  }
  process.stdout.write(page(outcomes, isSame));
  process.exitCode = outcomes.every(isSame) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function page(outcomes: readonly Outcome[], isSame: (outcome: Outcome) => boolean): string {
  const row = (trouble: Trouble): string => {
    const of = outcomes.filter((outcome) => outcome.trouble === trouble);
    const sum = (count: (outcome: Outcome) => number): number => of.reduce((n, one) => n + count(one), 0);
    const faults = sum((one) => Object.values(one.faults).reduce((n, k) => n + k, 0));
    const same = sum((one) => Number(isSame(one)));
    const stopped = sum(({ said }) => said.length);
    return `| ${troubles[trouble]} | ${of.length} | ${faults} | ${sum(({ kills }) => kills)} | ${stopped} | ${sum(({ resumed }) => resumed)} | ${same} of ${of.length} |`;
  };
  const said = [
    ...new Set(
      outcomes.flatMap((one) => one.said.map((words) => words.replaceAll(/[0-9a-f]{8}[0-9a-f-]*/g, "…"))),
    ),
  ];
  return `# A server of the Tinker API, and what can go wrong on the way to it

Written by \`node bench/tinker-faults.ts --rounds ${outcomes.length / chosen.length}\`. Each run is GRPO over ${iterations} iterations, with a checkpoint after each,
against \`serve/tinker\`; server, client and the network between them are processes and sockets of their own. "The same
weights" means bytes: adapter, optimiser's state and the count of steps are those of a run that nothing disturbed, where
rollouts run ahead, by ${stalenessOf("ahead")} iterations, of one in which they do as well.
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
