/** `whetstone play`: an environment by hand, or by one of its scripted players or a model, turn by turn. */
import { createInterface } from "node:readline";
import type { Command } from "commander";
import { counted } from "../common/text/counted.ts";
import { oneLine, printable } from "../common/text/oneLine.ts";
import { unknownName } from "../common/text/suggest.ts";
import { writeMessage } from "../common/text/toolCalls.ts";
import { WhetstoneError } from "../core/errors.ts";
import { findingLine } from "../core/finding.ts";
import { type Random, randomStream } from "../core/random.ts";
import type { Message, Role, Task, Trajectory } from "../core/types.ts";
import { toolFindings } from "../diagnose/environment/toolFinding.ts";
import { requireSoundTasks } from "../diagnose/environment/validate.ts";
import { requireEpisode, requireStep, requireTurn } from "../env/contract.ts";
import type { Environment, Episode } from "../env/environment.ts";
import { type Actor, scriptActor } from "../rollout/actor.ts";
import { playEpisode } from "../rollout/episode.ts";
import { evaluatedActor } from "../train/evaluate.ts";
import { requireEnvironment } from "./catalogue.ts";
import {
  artefactLines,
  type EvaluatedPolicy,
  evaluatedPolicy,
  withToolsInText,
} from "./evaluationOptions.ts";
import { untilInterrupted } from "./interrupted.ts";
import { statedNumber } from "./numbers.ts";
import { addCommand, type Io, lateNote, number, paint } from "./output.ts";
import { storeOption } from "./runs.ts";
import {
  replyTokensOf,
  requireModelFor,
  type Sampling,
  type SamplingFlags,
  samplingOf,
  withReplyTokens,
  withSamplingFlags,
} from "./sampling.ts";
import { ending } from "./transcript.ts";

interface PlayOptions extends SamplingFlags {
  readonly split?: string;
  readonly task: string;
  readonly player?: string;
  readonly model?: string;
  readonly policy?: string;
  readonly toolsInText?: true;
  readonly store: string;
  readonly seed: string;
}

export function addPlay(program: Command, io: Io): void {
  const command = addCommand(
    program,
    "play",
    "Play an environment by hand in the terminal, or watch a model or a scripted player.",
    [
      "whetstone play facts",
      "whetstone play facts --split validation --task 3",
      "whetstone play facts --player expert",
      "whetstone play my.ts --model SmolLM2-135M-Instruct.Q4_1.gguf --greedy",
      "whetstone play facts --policy facts-grpo-1",
      "printf 'search peru\\nanswer lima\\n' | whetstone play facts",
    ],
  )
    .argument("<env>", "environment (see whetstone envs), or a module that exports one")
    .option("--split <name>", "set of tasks (default: the first)")
    .option("--task <n|id>", "task to play: its number from 0, or its id", "0")
    .option("--player <name>", "scripted player that plays instead of you: expert or flawed")
    .option(
      "--model <folder|file.gguf|owner/name>",
      "pretrained model that plays instead of you: a folder, a file, or a name on the Hugging Face Hub",
    )
    .option("--policy <run-or-checkpoint>", "run or checkpoint whose weights play instead of you");
  withToolsInText(withSamplingFlags(command))
    .option("--seed <n>", "seed of the player or the model", "1")
    .option(...storeOption)
    .action(async (name: string, options: PlayOptions) => {
      const seed = statedNumber("--seed", options.seed);
      const sampling = samplingOf(options);
      const replyTokens = replyTokensOf(options);
      const watched = requireOnePlayer(options);
      const environment = await requireEnvironment("play", name);
      await requireSoundTasks(environment);
      const { player, split = environment.splits[0]! } = options;
      if (!environment.splits.includes(split)) throw unknownName("--split", split, environment.splits);
      const task = chooseTask(environment.tasks(split), options.task, split);
      const game = { environment, task, seed, sampling };
      if (!watched)
        return await play(game, player === undefined ? byHand(io) : byPlayer(environment, player), io);
      const policy = await evaluatedPolicy("play", options.policy, { ...options, cache: "runs/chat" }, io);
      const limit = replyTokens ?? policy.found?.begun?.parts.replyTokens;
      await untilInterrupted(io, async (stop) => {
        try {
          const hands = await byModel(policy, environment, stop, io);
          await play({ ...game, environment: withReplyTokens(environment, limit) }, hands, io);
        } finally {
          await policy.dispose();
        }
      });
    });
}

/** @returns whether a model plays. @throws WhetstoneError `option.range` for options that do not go together. */
function requireOnePlayer(options: PlayOptions): boolean {
  const { player, model, policy } = options;
  const watched = model !== undefined || policy !== undefined;
  const ofModels = ["greedy", "temperature", "topP", "replyTokens", "toolsInText"] as const;
  if (!watched) requireModelFor(options, ofModels, "--model or --policy");
  if (!watched || player === undefined) return watched;
  throw new WhetstoneError("option.range", {
    where: "--player",
    got: `${player}, and a model beside it`,
    expected: "one of --player, --model and --policy",
    fix: "Leave one of them out.",
  });
}

interface Game {
  readonly environment: Environment;
  readonly task: Task;
  readonly seed: number;
  readonly sampling: Sampling;
}

/** Who plays. */
interface Hands {
  readonly actor: Actor;
  /** Whether the terminal shows the actions already. */
  readonly echoed: boolean;
  /** Whether the input has ended. */
  readonly left?: () => boolean;
  close(): void;
}

async function play({ environment, task, seed, sampling }: Game, hands: Hands, io: Io): Promise<void> {
  const seen = reported(environment, task, hands, io);
  let played: readonly Trajectory[];
  try {
    played = await playEpisode({
      environment: seen.environment,
      task,
      id: "play",
      actor: () => hands.actor,
      random: randomStream(seed).split("play", task.id),
      temperature: sampling.mode === "greedy" ? 0 : (sampling.temperature ?? 1),
      ...(sampling.topP !== undefined && { topP: sampling.topP }),
    });
  } finally {
    hands.close();
  }
  const { end } = played[0]!;
  const left = hands.left?.() === true;
  const { turns, rewards } = seen;
  io.record({ type: "done", task: task.id, turns: turns(), rewards, end: left ? null : end });
  if (end.kind === "failed" && !left) {
    io.error(`whetstone: ${oneLine(end.message)}`);
    io.code = 1;
  }
  const paid = Object.entries(rewards).map(rewardWords);
  io.say(
    `${left ? "left" : ending({ end })} · ${counted(turns(), "turn")}${paid.length > 0 ? ` · ${paid.join(", ")}` : ""}`,
  );
}

const rewardWords = ([channel, value]: [string, number]): string => `${oneLine(channel)} ${number(value)}`;

/** The environment, which prints what is observed, done and paid as it happens. */
function reported(environment: Environment, task: Task, hands: Hands, io: Io) {
  const rewards: Record<string, number> = {};
  const known = new Set<Role>();
  let turns = 0;
  let acting: { readonly role: Role; readonly heard: readonly Message[] };
  const report = (episode: Episode): Episode => ({
    async observe() {
      const turn = requireTurn(await episode.observe(), environment);
      const { role, observation } = turn;
      const opening = known.has(role) || observation.whole ? [] : task.prompt;
      known.add(role);
      acting = { role, heard: [...opening, ...observation.messages] };
      for (const m of acting.heard)
        io.say(`${paint(io, "dim", `${m.role} ‹`)} ${printable(writeMessage(m))}`);
      return turn;
    },
    async act(action) {
      const { role, heard } = acting;
      const text = writeMessage({ role: "assistant", ...action });
      if (!hands.echoed) io.say(`${paint(io, "bold", `${role} ›`)} ${printable(text)}`);
      const step = requireStep(await episode.act(action));
      turns++;
      const paid = Object.entries(step.rewards ?? {});
      for (const [channel, value] of paid) rewards[channel] = (rewards[channel] ?? 0) + value;
      const { otherRewards = {} } = step;
      const given = {
        rewards: step.rewards ?? {},
        ...(step.otherRewards && { otherRewards }),
        text: step.text,
      };
      io.record({ type: "turn", turn: turns, role, heard, action: text, ...given });
      const notes = [
        ...paid.map(rewardWords),
        ...Object.entries(otherRewards).flatMap(([other, named]) =>
          Object.entries(named).map((reward) => `${other} ${rewardWords(reward)}`),
        ),
        ...(action.stop === "length" ? ["cut at the token limit"] : []),
      ];
      if (notes.length > 0) io.say(paint(io, "dim", `  turn ${turns}: ${notes.join(", ")}`));
      if (step.text) io.say(paint(io, "yellow", printable(step.text)));
      return step;
    },
    close: async () => episode.close?.(),
  });
  return {
    environment: {
      ...environment,
      start: async (of: Task, random: Random) => report(requireEpisode(await environment.start(of, random))),
    },
    rewards,
    turns: () => turns,
  };
}

function chooseTask(tasks: readonly Task[], wanted: string, split: string): Task {
  const task =
    tasks.find((t) => t.id === wanted) ?? (/^\d+$/.test(wanted) ? tasks[Number(wanted)] : undefined);
  if (task) return task;
  throw new WhetstoneError("option.range", {
    where: "--task",
    got: `"${wanted}"`,
    expected: `a number below ${tasks.length} or the id of a task in ${split}`,
    fix: "Leave it out to play the first one.",
  });
}

function byPlayer(environment: Environment, wanted: string): Hands {
  const known = (["expert", "flawed"] as const).filter((k) => environment[k] !== undefined);
  const name = known.find((k) => k === wanted);
  if (name === undefined) throw unknownName("--player", wanted, known);
  return { actor: scriptActor(name, environment[name]!), echoed: false, close: () => {} };
}

/** Opens the model; says what it plays with, and what it cannot read. */
async function byModel(
  { name, artefact, open }: EvaluatedPolicy,
  { tools = [] }: Environment,
  stop: AbortSignal,
  io: Io,
): Promise<Hands> {
  const agent = await open(stop);
  if ("codec" in agent)
    for (const finding of toolFindings(tools, agent.codec))
      io.error(`warning: ${oneLine(findingLine(finding))}`);
  if (artefact) io.say(...artefactLines(artefact, undefined));
  const actor = evaluatedActor({ agent, stop, ...(artefact && { artefact: artefact.artefact }) });
  return {
    actor: { ...actor, act: (request) => lateNote(io, `${name} is replying.`, actor.act(request)) },
    echoed: false,
    close: () => {},
  };
}

/** Most actions that are listed at once. */
const mostListed = 40;

function listed(actions: readonly string[]): string {
  const shown = actions.slice(0, mostListed).join(" | ");
  const left = actions.length - mostListed;
  return left > 0 ? `${shown} | … and ${left} more` : shown;
}

function byHand(io: Io): Hands {
  const keyboard = process.stdin.isTTY === true && io.terminal;
  const lines = createInterface({ input: process.stdin, ...(keyboard && { output: process.stdout }) });
  lines.on("SIGINT", () => lines.close());
  const reader = lines[Symbol.asyncIterator]();
  let left = false;
  const actor: Actor = {
    id: "hand",
    origin: "demonstrated",
    async act({ observation: { legal } }) {
      if (legal) io.say(paint(io, "dim", `allowed: ${printable(listed(legal))}`));
      if (keyboard) {
        lines.setPrompt("you › ");
        lines.prompt();
      }
      const next = await reader.next();
      if (next.done !== true)
        return { version: "hand", action: { role: "assistant", content: next.value }, stop: "eos" };
      left = true;
      io.say("The input ended before the episode did.");
      return { end: { kind: "failed", boundary: "model", message: "the input ended" } };
    },
  };
  return { actor, echoed: keyboard, left: () => left, close: () => lines.close() };
}
