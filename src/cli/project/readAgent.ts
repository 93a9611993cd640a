/** Reads which tools an agent has, out of a file that was written without a thought of training. */
import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { WhetstoneError } from "../../core/errors.ts";
import type { Found, Told } from "./agentReader.ts";

const reader = new URL(
  import.meta.url.endsWith(".ts") ? "./agentReader.ts" : "./agentReader.js",
  import.meta.url,
);
/** Milliseconds that the file may take to load, or to come to its first request. */
const patience = 20_000;
/** Clients refuse to be made without a key. No request leaves, so that none has to be right. */
const keys = { OPENAI_API_KEY: "none", ANTHROPIC_API_KEY: "none" };

/**
 * The tools that the file exports (of the AI SDK, or as lists for a request), or else those that it offers in its first
 * request to a model when it runs as a program.
 * @throws WhetstoneError `config.invalid` where it has none.
 */
export async function readAgent(file: string): Promise<Found> {
  const path = resolve(file);
  if (!existsSync(path)) throw none(file, "no such file");
  const exported = await told([fileURLToPath(reader), path], []);
  if (exported && "tools" in exported && exported.tools.length > 0) return exported;
  const run = await told([path, "hello"], ["--import", reader.href]);
  if (run && "tools" in run) return run;
  const failed = [run, exported].find((one) => one && "failed" in one);
  throw none(file, failed && "failed" in failed ? `"${failed.failed.split("\n")[0]}"` : "no tools");
}

/** What a process under Node's permissions tells; undefined if it ends without a word. */
function told(
  [program = "", ...args]: readonly string[],
  flags: readonly string[],
): Promise<Told | undefined> {
  const child = fork(program, args, {
    execArgv: ["--permission", "--allow-fs-read=*", "--no-warnings", ...flags],
    env: { ...process.env, ...keys },
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const late = setTimeout(() => child.kill("SIGKILL"), patience);
  return new Promise((resolve) => {
    let heard: Told | undefined;
    child.once("message", (message) => {
      heard = message as Told;
    });
    child.once("error", (e) => resolve({ failed: e.message }));
    child.once("close", () => {
      clearTimeout(late);
      resolve(heard);
    });
  });
}

const none = (file: string, got: string): WhetstoneError =>
  new WhetstoneError("config.invalid", {
    where: "--from",
    got: `${got} in ${file}`,
    expected:
      "a module that exports the agent's tools, or a program that offers them in its first request to a model",
    fix: "Export the tools: export const tools = { … }. Its packages have to be installed beside it.",
  });
