/** `whetstone eval --suite`: an agent measured by a benchmark, with a report. */
import { dirname, resolve } from "node:path";
import { makeFolder, replaceFile } from "../common/files/files.ts";
import { unknownName } from "../common/text/suggest.ts";
import type { ArtefactVersion } from "../core/artefact.ts";
import { WhetstoneError } from "../core/errors.ts";
import { randomStream } from "../core/random.ts";
import { suites } from "../suite/index.ts";
import { cellsOf, columns, type SuiteReport, sectionsOf, suitePage } from "../suite/report.ts";
import type { SuiteAgent, SuiteOptions } from "../suite/suite.ts";
import { limitConcurrency } from "../train/limit.ts";
import type { ChatFlags } from "./chat.ts";
import { artefactLines, evaluatedPolicy } from "./evaluationOptions.ts";
import { untilInterrupted } from "./interrupted.ts";
import { statedNumber } from "./numbers.ts";
import { duration, type Io, paint, progressLine, roomOf, table } from "./output.ts";
import type { SamplingFlags } from "./sampling.ts";

/** What of `whetstone eval` a suite takes, and what it leaves to itself. */
export interface SuiteCommand extends ChatFlags, SamplingFlags {
  readonly env?: string;
  readonly split?: string;
  readonly failUnder?: string;
  readonly tasks?: string;
  readonly seed: string;
  readonly store: string;
  readonly artefact?: string;
  readonly player?: string;
  readonly out?: string;
  readonly toolsInText?: true;
  readonly show?: string;
}

/** @param named the run or checkpoint, where no scripted player is measured. */
export async function evalSuite(
  name: string,
  named: string | undefined,
  command: SuiteCommand,
  io: Io,
): Promise<void> {
  const suite = suites.find((s) => s.name === name);
  if (!suite) {
    throw unknownName(
      "--suite",
      name,
      suites.map((s) => s.name),
    );
  }
  refuseOwn(command);
  const seed = statedNumber("--seed", command.seed);
  const tasks = command.tasks === undefined ? undefined : statedNumber("--tasks", command.tasks, 1);
  const found = await agentNamed(named, command, io);
  const began = performance.now();
  const mode = command.greedy ? "greedy" : "sampled";
  const progress = progressLine(io, suite.name);
  const result = await untilInterrupted(io, async (stop) => {
    try {
      const options: Omit<SuiteOptions, "agent" | "tasks"> = {
        mode,
        random: randomStream(seed),
        limit: limitConcurrency(64),
        progress: progress.at,
        stop,
        ...(found.artefact && { artefact: found.artefact.artefact }),
      };
      return await suite.run({ ...options, ...(tasks && { tasks }), agent: await found.open(stop) });
    } finally {
      progress.close();
      await found.dispose();
    }
  });
  if (result === undefined) return;
  const seconds = (performance.now() - began) / 1000;
  const artefact = found.artefact && { artefact: found.artefact.id };
  const report: SuiteReport = {
    suite: suite.name,
    agent: found.name,
    ...artefact,
    mode,
    seed,
    ...result,
    seconds,
  };
  io.record({ type: "suite", ...report });
  for (const [section, rows] of sectionsOf(report.rows)) {
    const [head, ...lines] = table([section, ...columns.slice(1)], rows.map(cellsOf), roomOf(io));
    io.say(paint(io, "bold", head!), ...lines, "");
  }
  if (report.failed > 0) io.say(`${report.failed} failed episodes are left out.`);
  io.say(
    `${suite.summary} · ${found.name}, ${mode}, ${duration(seconds)}`,
    ...artefactLines(found.artefact, command.artefact),
  );
  if (report.rows[0]?.value.n === 0) {
    io.error("whetstone: nothing could be measured.");
    io.code = 1;
  }
  if (command.out === undefined) return;
  await makeFolder(dirname(resolve(command.out)));
  await replaceFile(resolve(command.out), suitePage(suite, report));
  io.say(`Written: ${command.out}`);
}

/** @throws WhetstoneError `option.range` for what a suite decides by itself. */
function refuseOwn(command: SuiteCommand): void {
  for (const [flag, value] of [
    ["--env", command.env],
    ["--split", command.split],
    ["--fail-under", command.failUnder],
    ["--temperature", command.temperature],
    ["--top-p", command.topP],
    ["--reply-tokens", command.replyTokens],
    ["--show", command.show],
  ] as const) {
    if (value === undefined) continue;
    throw new WhetstoneError("option.range", {
      where: flag,
      got: `${value} beside --suite`,
      expected:
        "--suite without this option, since a suite has its own environments, splits, limits and metrics",
      fix: "Leave one of them out.",
    });
  }
}

interface FoundAgent {
  readonly name: string;
  readonly artefact?: ArtefactVersion;
  open(stop: AbortSignal): Promise<SuiteAgent>;
  dispose(): Promise<void>;
}

/** @throws WhetstoneError `option.range` unless a policy or a scripted player is named, and not both. */
async function agentNamed(named: string | undefined, command: SuiteCommand, io: Io): Promise<FoundAgent> {
  const { player, chat, model, artefact } = command;
  const other = chat === undefined ? model && "--model" : "--chat";
  const given = [named, player && "--player", other].filter((x) => x !== undefined);
  if (given.length === 0 || (player !== undefined && given.length > 1)) {
    throw new WhetstoneError("option.range", {
      where: "eval --suite",
      got: given.length === 0 ? "nothing to measure" : given.join(" and "),
      expected: "one of a run or checkpoint, --player, --model, or --chat",
      fix: "Name a run (see whetstone runs), --player expert, or the address of a chat model.",
    });
  }
  if (player === undefined) return await evaluatedPolicy("eval --suite", named, command, io);
  if (artefact !== undefined) {
    throw new WhetstoneError("option.range", {
      where: "--artefact",
      got: `${artefact} for a scripted player`,
      expected: "a policy, which can read an artefact",
      fix: "Leave one of them out.",
    });
  }
  const known = (["expert", "flawed"] as const).find((k) => k === player);
  if (known === undefined) throw unknownName("--player", player, ["expert", "flawed"]);
  return { name: `the ${known} player`, open: async () => known, dispose: async () => {} };
}
