/** `whetstone validate`: an environment's mistakes, and what to expect of it, before anything is trained. */
import { Worker } from "node:worker_threads";
import type { Command } from "commander";
import { counted } from "../common/text/counted.ts";
import { oneLine } from "../common/text/oneLine.ts";
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import { findingLine, isError } from "../core/finding.ts";
import type { FirstReplies } from "../diagnose/environment/firstReplies.ts";
import type { EnvironmentReport } from "../diagnose/environment/validate.ts";
import { withToolsInText } from "./evaluationOptions.ts";
import { numberBetween, statedNumber } from "./numbers.ts";
import {
  addCommand,
  folded,
  type Io,
  interval,
  lateProgress,
  number,
  paint,
  percent,
  roomOf,
  table,
} from "./output.ts";
import { replyTokensOf, requireModelFor, type SamplingFlags } from "./sampling.ts";
import { episodeLines, episodeRecord } from "./transcript.ts";
import type { ValidateAnswer, ValidateOrder } from "./validateWorker.ts";

interface ValidateCommand extends Pick<SamplingFlags, "temperature" | "replyTokens"> {
  readonly episodes: string;
  readonly seconds: string;
  readonly seed: string;
  readonly engine: string;
  readonly model?: string;
  readonly contextTokens?: string;
  readonly replies?: string;
  readonly groupSize?: string;
  readonly toolsInText?: true;
}

const readers = ["local", "tabular"] as const;

export function addValidate(program: Command, io: Io): void {
  const command = addCommand(
    program,
    "validate",
    "Check an environment for mistakes before training, and measure its scripted players and a pretrained model.",
    [
      "whetstone validate environment.ts",
      "whetstone validate environment.ts --model SmolLM2-135M-Instruct.Q4_1.gguf",
      "whetstone validate environment.ts --model HuggingFaceTB/SmolLM2-135M-Instruct --replies 0",
      "whetstone validate facts --episodes 100",
      "whetstone validate environment.ts --json",
    ],
  )
    .argument("<env>", "environment (see whetstone envs), or a module that exports one")
    .option("--episodes <n>", "number of episodes for each scripted player and for a random player", "20")
    .option(
      "--seconds <n>",
      "time limit for starting new episodes, in seconds; and once more for the replies of --model",
      "60",
    )
    .option("--seed <n>", "seed of the players and the model", "1")
    .option("--engine <name>", "engine whose tokenizer is used: local or tabular", "local")
    .option(
      "--model <folder|file.gguf|owner/name>",
      "pretrained model: its tokenizer counts tokens, some of its replies are printed with their rewards, and groups of replies to a task are compared",
    )
    .option(
      "--context-tokens <n>",
      "maximum sequence length, in tokens (default: what --model and the memory allow, or 128 without a model)",
    )
    .option(
      "--replies <n>",
      "with --model: number of replies to print, each to another task (default: 10; 0: none)",
    )
    .option(
      "--group-size <n>",
      "with --model: replies to each of these tasks, which form a group (default: 8)",
    )
    .option("--temperature <n>", "with --model: sampling temperature (default: 1)")
    .option(
      "--reply-tokens <n>",
      "maximum length of a reply, in tokens of the model (default: limits.actionTokens)",
    );
  withToolsInText(command).action(async (env: string, options: ValidateCommand) => {
    const engine = readers.find((name) => name === options.engine);
    if (!engine) throw unknownName("--engine", options.engine, readers);
    const ofModels = ["replies", "groupSize", "temperature", "toolsInText"] as const;
    if (options.model === undefined) requireModelFor(options, ofModels, "--model");
    const { temperature = "1", replies: groups = "10", groupSize = "8" } = options;
    const replyTokens = replyTokensOf(options);
    const { report, replies } = await examined(
      {
        env,
        engine,
        ...(options.model !== undefined && { model: options.model }),
        episodes: statedNumber("--episodes", options.episodes, 1),
        seconds: statedNumber("--seconds", options.seconds, 1),
        seed: statedNumber("--seed", options.seed),
        ...(options.contextTokens !== undefined && {
          contextTokens: statedNumber("--context-tokens", options.contextTokens, 8),
        }),
        ...(replyTokens !== undefined && { replyTokens }),
        groups: statedNumber("--replies", groups),
        groupSize: statedNumber("--group-size", groupSize, 2),
        temperature: numberBetween("--temperature", temperature, 0, 100),
        toolsInText: options.toolsInText === true,
      },
      io,
    );
    if (replies) printReplies(replies, options.model!, io);
    print(report, io);
    if (engine === "local") await noteRuntime(io);
    if (report.findings.some(isError)) io.code = 1;
  });
}

/** Nothing here needs ONNX Runtime, and the training that comes next does. */
async function noteRuntime(io: Io): Promise<void> {
  const { bringRuntime, runtimeFault } = await import("../engine/local/runtime.ts");
  if ((await runtimeFault()) === undefined) return;
  io.say(
    ...folded(
      io,
      `note: ONNX Runtime is missing, without which the local engine cannot train. ${bringRuntime}`,
    ),
  );
}

interface Examined {
  readonly report: EnvironmentReport;
  readonly replies?: FirstReplies;
}

/** In a thread of its own: code that blocks its thread for good can be ended there, and named. */
async function examined(order: ValidateOrder, io: Io): Promise<Examined> {
  const file = import.meta.url.endsWith(".ts") ? "./validateWorker.ts" : "./validateWorker.js";
  const worker = new Worker(new URL(file, import.meta.url), { workerData: order });
  let progress: ReturnType<typeof lateProgress> | undefined;
  let call = "loading the environment";
  let patience = 60;
  let silent: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Examined>((resolve, reject) => {
      const heard = (): void => {
        clearTimeout(silent);
        silent = setTimeout(
          () => resolve({ report: blocked(order.env, call, patience) }),
          1000 * (patience + 5),
        );
      };
      heard();
      worker.on("error", reject);
      worker.on("message", (answer: ValidateAnswer) => {
        heard();
        if (answer.type === "loaded") {
          patience = answer.seconds;
          progress = lateProgress(io, "Episodes", answer.players * order.episodes);
        } else if (answer.type === "call") call = answer.call;
        else if (answer.type === "episode") progress?.one();
        else if (answer.type === "note") io.error(answer.line);
        else if (answer.type === "replies") {
          progress?.close();
          progress = lateProgress(io, "Replies", answer.episodes);
        } else if (answer.type === "report") resolve(answer);
        else if (answer.type === "refused") reject(new WhetstoneError(answer.code, answer.parts));
        else if (answer.type === "error") reject(answer.error);
      });
    });
  } finally {
    clearTimeout(silent);
    progress?.close();
    await worker.terminate();
  }
}

const blocked = (environment: string, call: string, seconds: number): EnvironmentReport => ({
  environment,
  splits: [],
  players: [],
  checks: [{ check: "episodes", title: "calls return", state: "found" }],
  findings: [
    {
      check: "episodes",
      severity: "error",
      problem: `${call} blocked its thread for more than ${seconds} s.`,
      fix: "It may loop forever, or block instead of awaiting; training would hang.",
    },
  ],
});

function printReplies(replies: FirstReplies, model: string, io: Io): void {
  const { shown, groupSize, groups, differing, mixed, success } = replies;
  for (const played of shown) {
    io.record(episodeRecord(played));
    io.say(...episodeLines(played, io), "");
  }
  const share = (n: number): string => `${n} of ${groups} (${percent(n / groups)})`;
  const signal =
    groups === 0
      ? "time was too short for a whole group; --seconds gives more"
      : `of ${counted(groups, "group")} of ${groupSize}, some but not all succeed in ${share(mixed)}, and rewards differ in ${share(differing)}`;
  io.record({ type: "replies", model, groupSize, groups, mixed, differing, success });
  io.say(
    ...folded(io, `${model}: success ${interval(success)} of ${counted(success.n, "episode")}; ${signal}.`),
    "",
  );
}

function print(report: EnvironmentReport, io: Io): void {
  io.record({ type: "validation", ...report });
  const { splits, players, prompts, replies, secondsPerStep, findings, checks } = report;
  io.say(paint(io, "bold", report.environment));
  if (splits.length > 0) {
    const rows = splits.map(({ name, tasks, trained }) => [
      name,
      String(tasks),
      name === "train" ? "all" : String(trained),
    ]);
    io.say("", ...table(["split", "tasks", "trained on"], rows, roomOf(io)));
  }
  if (players.length > 0) {
    const rows = players.map((p) => [
      p.player,
      String(p.episodes),
      interval(p.success),
      number(p.reward),
      number(p.turns),
      String(p.truncated),
      String(p.failed),
    ]);
    const head = ["player", "episodes", "success, 95 % interval", "reward", "turns", "cut off", "failed"];
    io.say("", ...table(head, rows, roomOf(io)));
  }
  const facts = [
    ...(prompts ? [`prompts ${number(prompts.median)} tokens, ${number(prompts.most)} at most`] : []),
    ...(replies ? [`replies ${number(replies.median)}, ${number(replies.most)} at most`] : []),
    ...(secondsPerStep === undefined ? [] : [`${number(1000 * secondsPerStep)} ms a step`]),
  ];
  if (facts.length > 0) io.say("", ...folded(io, facts.join("; ")));
  if (!prompts && players.length > 0)
    io.say(
      ...folded(
        io,
        "It has no vocabulary, so tokens cannot be counted; name a model with --model to use its tokenizer.",
      ),
    );
  if (findings.length > 0) io.say("");
  for (const finding of findings) {
    const style = isError(finding) ? "red" : "yellow";
    const [first = "", ...rest] = folded(io, `${finding.severity}: ${oneLine(findingLine(finding))}`);
    io.say(first.replace(finding.severity, paint(io, style, finding.severity)), ...rest);
  }
  const errors = findings.filter(isError).length;
  const kinds = [
    [errors, "error"],
    [findings.length - errors, "warning"],
  ] as const;
  const found = kinds.flatMap(([n, what]) => (n === 0 ? [] : counted(n, what))).join(", ");
  const measured = checks.filter(({ state }) => state !== "not measured");
  const ran = `${counted(measured.length, "check")}: ${measured.map(({ check }) => check).join(", ")}`;
  io.say("", ...folded(io, found === "" ? `No problems found in ${ran}.` : `${found} in ${ran}.`));
}
