// The walk of docs/first-hour.md, timed: from an empty folder to a trained agent, its page and its exported adapter, with
// the packed package as a newcomer has it. Packages come from the registry that npm is set to.
//
//     node bench/first-hour.ts
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { replaceFile } from "../src/common/files/files.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = fileURLToPath(new URL("results/first-hour.md", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "whetstone-first-hour-"));
// the clone brings a Node; a newcomer has one
const env = {
  ...process.env,
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  NO_COLOR: "1",
};

interface Step {
  readonly command: string;
  readonly seconds: number;
  readonly came: string;
}
const steps: Step[] = [];

/** Runs a command of the walk, and notes how long it took and the last line that says what came of it. */
function walk(command: string, cwd: string, came: RegExp): void {
  const from = performance.now();
  const out = execFileSync("sh", ["-c", `${command} 2>&1`], { cwd, env, encoding: "utf8" });
  const seconds = (performance.now() - from) / 1000;
  const line = out.match(new RegExp(came, "gm"))?.at(-1);
  if (line === undefined) throw new Error(`${command} did not say ${came}:\n${out}`);
  steps.push({ command, seconds, came: line.trim() });
  console.error(`${seconds.toFixed(1)} s  ${command}\n         ${line.trim()}`);
}

/** The dashboard's page of a run: how long until it stands, and what it opens with. */
async function pageOf(run: string, cwd: string): Promise<void> {
  const from = performance.now();
  // without npx between, which would not pass the signal on
  const command = join(cwd, "node_modules", ".bin", "whetstone");
  const child: ChildProcess = spawn(command, ["dashboard", "--port", "0", "--json"], { cwd, env });
  const url = await new Promise<string>((resolve) =>
    createInterface(child.stdout!).on("line", (line) => resolve((JSON.parse(line) as { url: string }).url)),
  );
  const { runs } = (await (await fetch(`${url}/api/runs`)).json()) as {
    runs: { id: string; name: string }[];
  };
  const id = encodeURIComponent(runs.find(({ name }) => name === run)?.id ?? run);
  const answers = await Promise.all([`/runs/${id}`, `/api/runs/${id}`].map((path) => fetch(url + path)));
  for (const { status, url: asked } of answers) if (status !== 200) throw new Error(`${asked}: ${status}`);
  const seconds = (performance.now() - from) / 1000;
  child.kill("SIGINT");
  await new Promise((ended) => child.on("close", ended));
  steps.push({ command: "npx whetstone dashboard", seconds, came: `the page of ${run} answers` });
}

try {
  execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: root,
    env,
    stdio: "ignore",
  });
  const packed = readdirSync(folder).find((name) => name.endsWith(".tgz"))!;
  const project = join(folder, "my-agent");
  const trained = /^test +\w+ +.*$/;
  walk(`npm install --ignore-scripts ./${packed}`, folder, /added \d+ packages.*/);
  walk("npx whetstone init my-agent", folder, /^ {2}npm start$/);
  walk("npm install", project, /added \d+ packages.*/);
  walk("npm run types", project, /> tsc$/);
  walk("npm test", project, /. pass \d+/);
  walk("npm start", project, trained);
  walk(
    "npx whetstone eval runs/doors-1 --greedy --fail-under 0.8",
    project,
    /^test, greedy: success [\d.]+ %.*$/,
  );
  await pageOf("doors-1", project);
  walk("npx whetstone train config.ts --iterations 1 --learning-rate 0 --out runs/base", project, trained);
  walk(
    "npx whetstone train --env environment.ts --model runs/base/final --lora 16 --learning-rate 3e-3 --iterations 20 --eval-tasks 100 --out runs/adapter",
    project,
    trained,
  );
  walk("npx whetstone export runs/adapter --to peft --out adapter", project, /^Written: adapter$/);
  const total = steps.reduce((sum, { seconds }) => sum + seconds, 0);
  await replaceFile(
    page,
    `${[
      "# The first hour",
      "",
      "Written by `node bench/first-hour.ts`.",
      "",
      `The walk of [docs/first-hour.md](../../docs/first-hour.md) from an empty folder on ${cpus().length} cores, Node ${process.versions.node}: ${total.toFixed(0)} seconds in all, packages from the registry included.`,
      "",
      "| command | seconds | ends with |",
      "| --- | --- | --- |",
      ...steps.map(
        ({ command, seconds, came }) =>
          `| \`${command}\` | ${seconds.toFixed(1)} | ${came.replaceAll("|", "")} |`,
      ),
      "",
    ].join("\n")}`,
  );
  console.error(`${total.toFixed(0)} s in all`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
