/**
 * Records what `npm start` prints, with its times, for the site's start page:
 *
 *     node scripts/site/record.ts      # takes as long as the run; writes site/recorded.data.json
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { replaceFile } from "../../src/common/files/files.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "whetstone-recorded-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const began = performance.now();
const child = spawn(process.execPath, [join(root, "src/cli/main.ts"), "start"], {
  cwd: folder,
  stdio: ["ignore", "pipe", "inherit"],
  env: { ...process.env, NO_COLOR: "1" },
});
const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
const lines: { readonly at: number; readonly text: string }[] = [];
for await (const line of createInterface(child.stdout)) {
  lines.push({ at: Number(((performance.now() - began) / 1000).toFixed(1)), text: line });
  console.log(line);
}
if ((await ended) !== 0) throw new Error("the run failed; nothing was recorded");
const rows = lines.map((line) => JSON.stringify(line)).join(",\n");
await replaceFile(
  join(root, "site/recorded.data.json"),
  `{"command":"npm start","cores":${availableParallelism()},"lines":[\n${rows}\n]}\n`,
);
