/** `whetstone play`: an environment by hand, or by one of its scripted players. */
import { createInterface } from "node:readline";
import type { Command } from "commander";
import { unknownName } from "../common/text/suggest.ts";
import { writeMessage } from "../common/text/toolCalls.ts";
import { WhetstoneError } from "../core/errors.ts";
import { randomStream } from "../core/random.ts";
import type { Ending, Message, Task } from "../core/types.ts";
import { requireSoundTasks } from "../diagnose/environment/validate.ts";
import { requireEpisode, requireStep, requireTurn } from "../env/contract.ts";
import type { Environment } from "../env/environment.ts";
import { requireEnvironment } from "./catalogue.ts";
import { statedNumber } from "./numbers.ts";
import { addCommand, type Io, number, paint } from "./output.ts";

interface PlayOptions {
  readonly split?: string;
  readonly task: string;
  readonly player?: string;
  readonly seed: string;
}

export function addPlay(program: Command, io: Io): void {
  addCommand(program, "play", "Play an environment by hand in the terminal, or watch a scripted player.", [
    "whetstone play facts",
    "whetstone play facts --split validation --task 3",
    "whetstone play facts --player expert",
    "printf 'search peru\\nanswer lima\\n' | whetstone play facts",
  ])
    .argument("<env>", "environment (see whetstone envs), or a module that exports one")
    .option("--split <name>", "set of tasks (default: the first)")
    .option("--task <n|id>", "task to play: its number from 0, or its id", "0")
    .option("--player <name>", "scripted player that plays instead of you: expert or flawed")
    .option("--seed <n>", "seed of the player", "1")
    .action(async (name: string, options: PlayOptions) => {
      statedNumber("--seed", options.seed);
      await play(await requireEnvironment("play", name), options, io);
    });
}

/** Gives the next action; undefined when the input has ended. */
type NextAction = (
  conversation: readonly Message[],
  legal: readonly string[] | undefined,
) => Promise<string | undefined>;

async function play(environment: Environment, options: PlayOptions, io: Io): Promise<void> {
  await requireSoundTasks(environment);
  const split = options.split ?? environment.splits[0]!;
  if (!environment.splits.includes(split)) throw unknownName("--split", split, environment.splits);
  const task = chooseTask(environment.tasks(split), options.task, split);
  const hands = options.player === undefined ? byHand(io) : byPlayer(environment, task, options);
  const episode = requireEpisode(await environment.start(task, randomStream(task.seed)));
  const conversations = new Map<string, Message[]>();
  const rewards: Record<string, number> = {};
  let end: Ending | undefined;
  let turns = 0;

  try {
    while (end === undefined && turns < environment.limits.turns) {
      const { role, observation } = requireTurn(await episode.observe(), environment);
      const known = observation.whole ? [] : conversations.get(role);
      const heard = [...(known === undefined ? task.prompt : []), ...observation.messages];
      const conversation = [...(known ?? []), ...heard];
      conversations.set(role, conversation);
      for (const m of heard) io.say(`${paint(io, "dim", `${m.role} ‹`)} ${writeMessage(m)}`);

      const text = await hands.act(conversation, observation.legal);
      if (text === undefined) {
        io.say("The input ended before the episode did.");
        break;
      }
      if (!hands.echoed) io.say(`${paint(io, "bold", `${role} ›`)} ${text}`);
      conversation.push({ role: "assistant", content: text });
      const step = requireStep(await episode.act({ content: text, stop: "eos" }));
      turns++;
      io.record({
        type: "turn",
        turn: turns,
        role,
        heard,
        action: text,
        rewards: step.rewards ?? {},
        text: step.text,
      });
      for (const [channel, value] of Object.entries(step.rewards ?? {})) {
        rewards[channel] = (rewards[channel] ?? 0) + value;
      }
      if (step.text) io.say(paint(io, "yellow", step.text));
      end = step.end;
    }
  } finally {
    hands.close();
    await episode.close?.();
  }
  if (end === undefined && turns >= environment.limits.turns)
    end = { kind: "truncated", limit: "turns", at: turns };
  io.record({ type: "done", task: task.id, turns, rewards, end: end ?? null });
  const paid = Object.entries(rewards).map(([channel, value]) => `${channel} ${number(value)}`);
  io.say(`${describe(end)} · ${turns} turns${paid.length > 0 ? ` · ${paid.join(", ")}` : ""}`);
}

function describe(end: Ending | undefined): string {
  if (end === undefined) return "left";
  if (end.kind === "truncated") return `✘ limit reached: ${end.limit}`;
  if (end.kind === "failed") return `✘ failed in ${end.boundary}: ${end.message}`;
  return `${end.success === undefined ? "ended" : end.success ? "✔ success" : "✘ no success"}: ${end.reason}`;
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

function byPlayer(environment: Environment, task: Task, options: PlayOptions) {
  const known = (["expert", "flawed"] as const).filter((k) => environment[k] !== undefined);
  const name = known.find((k) => k === options.player);
  if (name === undefined) throw unknownName("--player", options.player!, known);
  const player = environment[name]!;
  const random = randomStream(statedNumber("--seed", options.seed)).split("play", task.id);
  const act: NextAction = async (conversation) => player(task, conversation, random);
  return { act, echoed: false, close: () => {} };
}

/** Most actions that are listed at once. */
const mostListed = 40;

function listed(actions: readonly string[]): string {
  const shown = actions.slice(0, mostListed).join(" | ");
  const left = actions.length - mostListed;
  return left > 0 ? `${shown} | … and ${left} more` : shown;
}

function byHand(io: Io) {
  const keyboard = process.stdin.isTTY === true && io.terminal;
  const lines = createInterface({ input: process.stdin, ...(keyboard && { output: process.stdout }) });
  lines.on("SIGINT", () => lines.close());
  const reader = lines[Symbol.asyncIterator]();
  const act: NextAction = async (_conversation, legal) => {
    if (legal) io.say(paint(io, "dim", `allowed: ${listed(legal)}`));
    if (keyboard) {
      lines.setPrompt("you › ");
      lines.prompt();
    }
    const next = await reader.next();
    return next.done === true ? undefined : next.value;
  };
  return { act, echoed: keyboard, close: () => lines.close() };
}
