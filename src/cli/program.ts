/** The command line: finds the command, runs it, turns whatever happens into one clear line and an exit code. */

import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { errorCodes, isWhetstoneError, messageOf } from "../core/errors.ts";
import { addCheck } from "./check.ts";
import { addCompare } from "./compare.ts";
import { addDashboard } from "./dashboard.ts";
import { addDoctor } from "./doctor.ts";
import { addEnvs } from "./envs.ts";
import { addEval } from "./eval.ts";
import { addExplain } from "./explain.ts";
import { addExport } from "./export.ts";
import { addForget } from "./forget.ts";
import { addImport } from "./import.ts";
import { addInit } from "./init.ts";
import { addKeys } from "./keys.ts";
import { addMethods } from "./methods.ts";
import { createIo, type Io } from "./output.ts";
import { addPlay } from "./play.ts";
import { addRuns } from "./runs.ts";
import { addServe } from "./serve.ts";
import { addShow } from "./show.ts";
import { addStart } from "./start.ts";
import { addTrain } from "./train.ts";
import { addVersions } from "./versions.ts";

/** Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted after saving. */
export const exit = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

export function createProgram(io: Io): Command {
  const program = new Command("whetstone")
    .description("LLM agents learn from feedback.")
    .version(version())
    // in front of the command as well; `createIo` has read them
    .option("--json", "one JSON object a line on stdout, text on stderr")
    .option("--debug", "show where an error came from")
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.write(text),
      writeErr: () => {}, // said once, in `report`
    });
  const add = [
    addStart,
    addInit,
    addTrain,
    addEval,
    addExport,
    addImport,
    addEnvs,
    addMethods,
    addExplain,
    addCheck,
    addCompare,
    addPlay,
    addRuns,
    addShow,
    addServe,
    addKeys,
    addVersions,
    addForget,
    addDashboard,
    addDoctor,
  ];
  for (const one of add) one(program, io);
  program.addHelpText("after", "\nFirst steps: whetstone doctor, whetstone start, whetstone init my-agent\n");
  return program;
}

/** Runs one command line, without the program's name. */
export async function runCommand(args: readonly string[], io: Io = createIo(args)): Promise<number> {
  try {
    const program = createProgram(io);
    if (args.every((arg) => arg === "--json" || arg === "--debug")) {
      program.outputHelp();
      return exit.done;
    }
    await program.parseAsync([...args], { from: "user" });
    return io.code;
  } catch (e) {
    return report(e, io);
  }
}

function report(e: unknown, io: Io): number {
  if (e instanceof CommanderError) {
    if (e.exitCode === 0) return exit.done; // help and version
    const said = e.message.replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " ");
    io.error(`whetstone: ${said}${/[.?)]$/.test(said) ? "" : "."} See whetstone --help.`);
    return exit.usage;
  }
  io.error(`whetstone: ${oneLine(messageOf(e))}`);
  if (io.debug && e instanceof Error) io.error(stackOf(e));
  else if (!isWhetstoneError(e))
    io.error("This is not an error that we foresaw: --debug shows where it came from.");
  return isWhetstoneError(e) ? errorCodes[e.code] : exit.failed;
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ");

function stackOf(e: Error): string {
  const cause = e.cause instanceof Error ? `\ncaused by ${stackOf(e.cause)}` : "";
  return `${e.stack ?? e.message}${cause}`;
}

function version(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
