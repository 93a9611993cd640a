// How commands end that open the local engine: at random moments, by signals and by early errors, while other processes keep all
// cores busy.
//
//     node bench/exits.ts --rounds 500
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { replaceFile } from "../src/common/files/files.ts";
import { randomStream } from "../src/core/random.ts";
import { config, type Ending, type EndingCase, endingCases, isDocumented } from "./exits/cases.ts";
import { exitsPage } from "./exits/page.ts";

const { rounds, seed, out } = new Command()
  .option("--rounds <n>", "commands that are ended", "500")
  .option("--seed <n>", "of the moments", "1")
  .option("--out <file>", "page", fileURLToPath(new URL("results/exits.md", import.meta.url)))
  .parse()
  .opts<{ readonly rounds: string; readonly seed: string; readonly out: string }>();

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "whetstone-exits-"));
const random = randomStream(Number(seed));

/** Runs a command, and sends it a signal after so many milliseconds, or two. */
function ended(
  args: readonly string[],
  { signal, againMs }: Pick<EndingCase, "signal" | "againMs"> = {},
  ms = 0,
): Promise<Ending> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, ...args], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let err = "";
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    const times = againMs === undefined ? [ms] : [ms, ms + againMs];
    const timers = signal ? times.map((at) => setTimeout(() => child.kill(signal), at)) : [];
    child.on("close", (code, by) => {
      timers.forEach(clearTimeout);
      resolve({ code, by, err });
    });
  });
}

/** Ends with its parent. */
const busyLoop = "const parent = process.ppid; while (process.ppid === parent);";
const load = Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ["-e", busyLoop]));
try {
  writeFileSync(join(folder, "config.ts"), config);
  const prepared = await ended(["train", "config.ts", "--iterations", "0", "--out", "runs/made"]);
  if (prepared.code !== 0) throw new Error(prepared.err);
  const began = performance.now();
  const seen: { readonly of: EndingCase; readonly ending: Ending }[] = [];
  for (let round = 0; round < Number(rounds); round++) {
    const of = endingCases[round % endingCases.length]!;
    const ms = of.within * random.next();
    const ending = await ended(of.args(round), of, ms);
    seen.push({ of, ending });
    for (const name of readdirSync(join(folder, "runs")))
      if (name !== "made") rmSync(join(folder, "runs", name), { recursive: true });
    if (!isDocumented(of, ending))
      console.error(`${of.name} after ${ms.toFixed(0)} ms: ${ending.code ?? ending.by}\n${ending.err}`);
    if ((round + 1) % 25 === 0) console.error(`${round + 1} of ${rounds}`);
  }
  const page = exitsPage(seen, (performance.now() - began) / 1000);
  await replaceFile(out, page);
  console.log(page);
  process.exitCode = seen.every(({ of, ending }) => isDocumented(of, ending)) ? 0 : 1;
} finally {
  for (const busy of load) busy.kill();
  rmSync(folder, { recursive: true, force: true });
}
