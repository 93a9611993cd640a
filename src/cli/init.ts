/** `whetstone init`: a runnable project in an empty folder. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { type Command, Option } from "commander";
import { makeFolder } from "../common/files/files.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import { addCommand, type Io } from "./output.ts";
import { packageSource, packageVersion } from "./packageSource.ts";
import { agentStart } from "./project/agentStart.ts";
import { environmentStart } from "./project/environmentStart.ts";
import { feedbackStart } from "./project/feedbackStart.ts";
import { projectFiles } from "./project/files.ts";
import { fromAgent } from "./project/fromAgent.ts";
import { readAgent } from "./project/readAgent.ts";
import type { Start } from "./project/start.ts";

/** By name, in the order of the question. */
const starts: Readonly<Record<string, Start>> = {
  environment: environmentStart,
  agent: agentStart,
  feedback: feedbackStart,
};

export function addInit(program: Command, io: Io): void {
  addCommand(
    program,
    "init",
    "Create a project: something to train, a config, a test, a workflow for GitHub.",
    [
      "whetstone init my-agent",
      "whetstone init my-agent --start agent",
      "whetstone init my-agent --start feedback",
      "whetstone init my-agent --from ../support/agent.ts",
      "cd my-agent && npm install && npm test && npm start",
    ],
  )
    .argument("[folder]", "an empty or new folder", ".")
    .addOption(
      new Option(
        "--start <kind>",
        "what it begins with (default: asks on a terminal, else environment): an environment of your own, an agent that reaches its model by a base URL, or feedback from production",
      ).choices(Object.keys(starts)),
    )
    .addOption(
      new Option(
        "--from <file>",
        "begin with the tools of this agent (AI SDK or OpenAI): the file is loaded, or run up to its first request to a model, without permission to write or to reach the network",
      ).conflicts("start"),
    )
    .action(async (folder: string, flags: InitFlags) => {
      const path = resolve(folder);
      requireEmpty(folder, path);
      const start = await startOf(flags, io);
      const root = resolve(import.meta.dirname, "..", "..");
      const source = packageSource(root);
      const files = projectFiles(packageName(path), start, source);
      await writeProject(path, files);
      io.record({ type: "done", folder: path, files: Object.keys(files) });
      const there = relative(process.cwd(), path);
      io.say(...Object.keys(files).map((name) => `wrote ${join(there, name)}`), "", "Next:");
      // a clone is no package that npm could install as it is
      const packed = join(root, `whetstone-${packageVersion()}.tgz`);
      const install =
        source === undefined ? `(cd ${root} && npm pack) && npm install ${packed}` : "npm install";
      io.say(`  ${there === "" ? "" : `cd ${there} && `}${install}`, "  npm test", "  npm start");
    });
}

interface InitFlags {
  readonly start?: string;
  readonly from?: string;
}

/** What the project begins with: the tools of an agent, or a start by name. */
async function startOf({ start, from }: InitFlags, io: Io): Promise<Start> {
  if (from === undefined) return starts[start ?? (await askedStart(io))]!;
  io.say(`Reading the tools of ${from}.`);
  const found = await readAgent(from);
  io.say(`found ${found.tools.map(({ name }) => name).join(", ")}`);
  return fromAgent(from, found);
}

/** The start that a person at a terminal wants; elsewhere the first one. */
async function askedStart(io: Io): Promise<string> {
  const names = Object.keys(starts);
  if (!io.terminal || io.json || !process.stdin.isTTY) return names[0]!;
  io.say("What do you begin with?", ...names.map((name, i) => `  ${i + 1}  ${starts[name]!.summary}`));
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  try {
    for (;;) {
      const said = (await asking.question(`1 to ${names.length}, or Enter for 1: `)).trim();
      const chosen =
        said === "" ? names[0] : (names[Number(said) - 1] ?? names.find((name) => name === said));
      if (chosen !== undefined) return chosen;
    }
  } finally {
    asking.close();
  }
}

async function writeProject(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  try {
    for (const [name, text] of Object.entries(files)) {
      await makeFolder(dirname(join(path, name)));
      writeFileSync(join(path, name), text, { flag: "wx" });
    }
  } catch (e) {
    throw new WhetstoneError("folder.unwritable", {
      where: "init",
      got: messageOf(e),
      expected: "a writable folder",
      fix: "Choose another folder.",
      cause: e,
    });
  }
}

/** @throws WhetstoneError `option.range` where something would be overwritten. */
function requireEmpty(folder: string, path: string): void {
  if (!existsSync(path) || isEmptyFolder(path)) return;
  throw new WhetstoneError("option.range", {
    where: "init",
    got: `${folder}, which is not an empty folder`,
    expected: "an empty folder, so that nothing is overwritten",
    fix: `Choose another one, such as ${basename(folder)}-2.`,
  });
}

/** Only what version control or a file manager leaves behind counts as nothing. */
function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).every((name) => name === ".git" || name === ".DS_Store");
  } catch {
    return false;
  }
}

const packageName = (path: string): string =>
  basename(path)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "") || "my-agent";
