// How commands end that open the local engine: at random moments, by signals and by early errors, while other processes keep all
// cores busy.
//
//     node bench/exits.ts --rounds 500
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { replaceFile } from "../src/core/files.ts";
import { randomStream } from "../src/core/random.ts";
import { type Ending, type EndingCase, endingCases, isDocumented } from "./exits/cases.ts";
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

/** Runs a command, and sends it a signal after so many milliseconds. */
function ended(args: readonly string[], signal?: NodeJS.Signals, ms = 0): Promise<Ending> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, ...args], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let err = "";
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    const timer = signal && setTimeout(() => child.kill(signal), ms);
    child.on("close", (code, by) => {
      clearTimeout(timer);
      resolve({ code, by, err });
    });
  });
}

const load = Array.from({ length: availableParallelism() }, () =>
  spawn(process.execPath, ["-e", "for (;;);"]),
);
try {
  const prepared = await ended(["train", "--env", "codewords", "--iterations", "2", "--out", "runs/made"]);
  if (prepared.code !== 0) throw new Error(prepared.err);
  const began = performance.now();
  const seen: { readonly of: EndingCase; readonly ending: Ending }[] = [];
  for (let round = 0; round < Number(rounds); round++) {
    const of = endingCases[round % endingCases.length]!;
    const ms = of.within * random.next();
    const ending = await ended(of.args(round), of.signal, ms);
    seen.push({ of, ending });
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
