/** The command line: finds the command, runs it, turns whatever happens into one clear line and an exit code. */

import { Command, CommanderError } from "commander";
import { oneLine } from "../common/text/oneLine.ts";
import { errorCodes, isWhetstoneError, messageOf } from "../core/errors.ts";
import { type CommandName, commandNames } from "./called.ts";
import { createIo, type Io } from "./output.ts";
import { packageVersion } from "./packageSource.ts";

/**
 * The commands, in the order of the help. Only the one that is asked for is read from its files: all of them together are
 * more than a thousand modules, and a second before the first word.
 */
const commands: Readonly<Record<CommandName, () => Promise<(program: Command, io: Io) => void>>> = {
  start: async () => (await import("./start.ts")).addStart,
  init: async () => (await import("./init.ts")).addInit,
  validate: async () => (await import("./validate.ts")).addValidate,
  train: async () => (await import("./train.ts")).addTrain,
  eval: async () => (await import("./eval.ts")).addEval,
  discover: async () => (await import("./discover.ts")).addDiscover,
  judge: async () => (await import("./judge.ts")).addJudge,
  export: async () => (await import("./export.ts")).addExport,
  import: async () => (await import("./import.ts")).addImport,
  envs: async () => (await import("./envs.ts")).addEnvs,
  methods: async () => (await import("./methods.ts")).addMethods,
  explain: async () => (await import("./explain.ts")).addExplain,
  check: async () => (await import("./check.ts")).addCheck,
  compare: async () => (await import("./compare.ts")).addCompare,
  arena: async () => (await import("./arena.ts")).addArena,
  play: async () => (await import("./play.ts")).addPlay,
  tasks: async () => (await import("./tasks.ts")).addTasks,
  league: async () => (await import("./league.ts")).addLeague,
  runs: async () => (await import("./runs.ts")).addRuns,
  show: async () => (await import("./show.ts")).addShow,
  serve: async () => (await import("./serve.ts")).addServe,
  keys: async () => (await import("./keys.ts")).addKeys,
  versions: async () => (await import("./versions.ts")).addVersions,
  prices: async () => (await import("./prices.ts")).addPrices,
  costs: async () => (await import("./prices.ts")).addCosts,
  artefacts: async () => (await import("./artefacts.ts")).addArtefacts,
  forget: async () => (await import("./forget.ts")).addForget,
  backup: async () => (await import("./backup.ts")).addBackup,
  restore: async () => (await import("./backup.ts")).addRestore,
  dashboard: async () => (await import("./dashboard.ts")).addDashboard,
  doctor: async () => (await import("./doctor.ts")).addDoctor,
};

/** Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted after saving. */
export const exit = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** The program with the command that is asked for; with all of them where none is. */
export async function createProgram(args: readonly string[], io: Io): Promise<Command> {
  const program = new Command("whetstone")
    .description("LLM agents learn from feedback.")
    .version(packageVersion())
    // in front of the command as well; `createIo` has read them
    .option("--json", "one JSON object a line on stdout, text on stderr")
    .option("--debug", "print the stack of an error")
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureHelp({ minWidthToWrap: 30 }) // 80 columns leave this beside the longest option
    .configureOutput({
      writeOut: (text) => io.write(text),
      writeErr: () => {}, // said once, in `report`
    });
  const asked = args.find((arg) => !arg.startsWith("-")) ?? "";
  const named = commandNames.filter((name) => name === asked);
  // the help, and advice about a name that is none, need them all; the version needs none
  const version = args[0] === "--version" || args[0] === "-V";
  const needed = named.length > 0 || version ? named : commandNames;
  for (const add of await Promise.all(needed.map((name) => commands[name]()))) add(program, io);
  program.addHelpText("after", "\nFirst steps: whetstone doctor, whetstone start, whetstone init my-agent\n");
  return program;
}

/** Runs one command line, without the program's name. */
export async function runCommand(args: readonly string[], io: Io = createIo(args)): Promise<number> {
  let program: Command | undefined;
  try {
    program = await createProgram(args, io);
    if (args.every((arg) => arg === "--json" || arg === "--debug")) {
      program.outputHelp();
      return exit.done;
    }
    await program.parseAsync([...args], { from: "user" });
    return io.code;
  } catch (e) {
    return report(e, io, program && groupOf(program, args), program && namedIn(program, args));
  }
}

/** The command that is named, where it only groups others. */
const groupOf = (program: Command, args: readonly string[]): Command | undefined =>
  program.commands.find((command) => command.commands.length > 0 && args.includes(command.name()));

/** " train", the command whose help says more; nothing where none is named. */
const namedIn = (program: Command, args: readonly string[]): string => {
  const named = program.commands.find((command) => command.name() === args[0]);
  return named ? ` ${named.name()}` : "";
};

function report(e: unknown, io: Io, group: Command | undefined, named = ""): number {
  if (e instanceof CommanderError) {
    if (e.exitCode === 0) return exit.done; // help and version
    if (e.code === "commander.help" && group) {
      const names = group.commands.map((command) => command.name()).join(", ");
      io.error(
        `whetstone: ${group.name()}: name a subcommand: ${names}. See whetstone ${group.name()} --help.`,
      );
      return exit.usage;
    }
    const page = /^error: unknown command '(inbox|sessions)'/.exec(e.message)?.[1];
    if (page !== undefined) {
      io.error(
        `whetstone: unknown command '${page}': it is a page of the dashboard. Open it with: whetstone dashboard`,
      );
      return exit.usage;
    }
    const said = oneLine(joined(e.message.replace(/^error: /, "")));
    io.error(`whetstone: ${said}${/[.?)]$/.test(said) ? "" : "."} See whetstone${named} --help.`);
    return exit.usage;
  }
  io.error(`whetstone: ${oneLine(joined(messageOf(e)))}`);
  if (io.debug && e instanceof Error) io.error(stackOf(e));
  else if (!isWhetstoneError(e)) io.error("This error is unexpected; --debug prints its stack.");
  return isWhetstoneError(e) ? errorCodes[e.code] : exit.failed;
}

const joined = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ");

function stackOf(e: Error): string {
  const cause = e.cause instanceof Error ? `\ncaused by ${stackOf(e.cause)}` : "";
  return `${e.stack ?? e.message}${cause}`;
}
