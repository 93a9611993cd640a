// Programs and statements per second in the sandbox, one after another and sixteen at once, by the clock on the wall.
//
//     node bench/sandbox.ts > bench/results/sandbox.md
import { cpus } from "node:os";
import { javaScriptSandbox } from "../src/sandbox/javascript.ts";
import { sqlSandbox } from "../src/sandbox/sql.ts";

const [rounds, seconds] = [5, 1];

/** Runs per second with so many under way at a time; the median of some rounds. */
async function rate(run: () => Promise<unknown>, atOnce: number): Promise<number> {
  await run();
  const rates: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    let done = 0;
    const one = async (): Promise<void> => {
      for (; performance.now() - began < 1000 * seconds; done++) await run();
    };
    await Promise.all(Array.from({ length: atOnce }, one));
    rates.push((1000 * done) / (performance.now() - began));
  }
  return rates.sort((a, b) => a - b)[rounds >> 1]!;
}

/** Milliseconds until the first answer of a sandbox that has just been made. */
async function start(make: () => { run(): Promise<unknown>; close(): void }): Promise<number> {
  const began = performance.now();
  const made = make();
  await made.run();
  const took = performance.now() - began;
  made.close();
  return took;
}

const programs = { scripts: ["function solve(xs) { return xs.map((x) => x * 2); }", "solve([1, 2, 3])"] };
const setup = "CREATE TABLE t (a INTEGER, b INTEGER); INSERT INTO t VALUES (1, 2), (3, 4), (5, 6)";
const javaScript = (threads: number) => {
  const { run, close } = javaScriptSandbox({ threads });
  return { run: () => run(programs), close };
};
const sql = (processes: number) => {
  const { run, close } = sqlSandbox({ setup, processes });
  return { run: () => run("SELECT a, count(*) FROM t WHERE b > 2 GROUP BY a"), close };
};

console.log("# Sandbox\n");
console.log(
  `Runs per second of wall-clock time, the median of ${rounds} rounds, on ${cpus()[0]?.model ?? "this machine"}, ${cpus().length} cores; each program in a fresh world.\n`,
);
console.log(
  "| | first answer | one after another | 16 at once | 16 at once, 2 workers |\n| --- | --: | --: | --: | --: |",
);
for (const [what, make] of Object.entries({ JavaScript: javaScript, SQL: sql })) {
  const began = await start(() => make(1));
  const [one, two] = [make(1), make(2)];
  const rates = [await rate(one.run, 1), await rate(one.run, 16), await rate(two.run, 16)];
  one.close();
  two.close();
  console.log(
    `| ${what} | ${began.toFixed(0)} ms | ${rates.map((r) => Math.round(r).toLocaleString("en")).join(" | ")} |`,
  );
}
