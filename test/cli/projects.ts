/** Projects of `whetstone init` beside this clone: their packages are those of the clone, and ours is its source. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What `npm install` would do, without the network. Node runs no TypeScript below node_modules, so that ours is a link. */
export function install(project: string, beside: string): void {
  const ours = join(beside, "whetstone");
  const exports = { ".": "./src/index.ts", "./*": "./src/*/index.ts" };
  mkdirSync(ours, { recursive: true });
  writeFileSync(join(ours, "package.json"), JSON.stringify({ name: "whetstone", type: "module", exports }));
  symlinkSync(join(root, "src"), join(ours, "src"));
  const modules = join(project, "node_modules");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  mkdirSync(join(modules, "@types"), { recursive: true });
  mkdirSync(join(modules, "@ai-sdk"), { recursive: true });
  symlinkSync(ours, join(modules, "whetstone"));
  for (const name of ["ai", "zod", "openai", "@ai-sdk/openai-compatible", "@types/node"])
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  const command = `#!/bin/sh\nexec "${process.execPath}" "${join(root, "src", "cli", "main.ts")}" "$@"\n`;
  writeFileSync(join(modules, ".bin", "whetstone"), command, { mode: 0o755 });
}

/** Runs a command in the project, with the programs that its packages bring. */
export function inProject(
  project: string,
  command: string,
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly out: string }> {
  // or an inner test runner would report to the outer one
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const bins = [join(project, "node_modules", ".bin"), join(root, "node_modules", ".bin"), process.env.PATH];
  const child = spawn(command, args, {
    cwd: project,
    env: { ...env, PATH: bins.join(delimiter), NO_COLOR: "1" },
  });
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (out += chunk.toString()));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out })));
}

/** The scripts that the project states. */
export const scriptsOf = (project: string): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(join(project, "package.json"), "utf8")).scripts;
