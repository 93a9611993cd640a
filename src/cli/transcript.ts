/** A trajectory as people read it: what was said, what was done, and the credit that each part got. */
import { oneLine, printable } from "../common/text/oneLine.ts";
import { writeMessage } from "../common/text/toolCalls.ts";
import { newMessages } from "../common/text/transcript.ts";
import { type Message, paid, succeeded, type Trajectory, type Turn } from "../core/types.ts";
import type { Spell } from "../serve/spelling.ts";
import type { StoredTrajectory } from "../store/runStore.ts";
import { type Io, number, paint } from "./output.ts";

export function transcript(
  stored: Pick<StoredTrajectory, "trajectory" | "advantage">,
  io: Io,
  spell?: Spell,
): string[] {
  const { trajectory, advantage } = stored;
  const out: string[] = [];
  const scale = advantage === undefined ? 1 : Math.max(1e-9, ...advantage.map(Math.abs));
  let read: readonly Message[] = [];
  let at = 0;
  for (const [k, turn] of trajectory.turns.entries()) {
    for (const message of newMessages(turn.prompt, read)) out.push(...said(message, io));
    read = [...turn.prompt, turn.action];
    const count = turn.tokens?.action.length ?? 0;
    const credit = advantage?.subarray(at, at + count);
    at += count;
    out.push(`  ${paint(io, "bold", `${turn.role} ›`)} ${action(turn, credit, scale, io, spell)}`);
    const notes = [
      ...(credit && credit.length > 0 ? [`credit ${signed(mean(credit))}`] : []),
      ...Object.entries(turn.rewards).map(([name, value]) => `${name} ${number(value)}`),
      ...(turn.stop === "length" ? ["cut at the token limit"] : []),
    ];
    if (notes.length > 0) out.push(paint(io, "dim", `      turn ${k + 1}: ${notes.join(", ")}`));
    if (turn.text) out.push(paint(io, "yellow", `      ${indented(turn.text)}`));
  }
  out.push(`  ${ending(trajectory)}`);
  return out;
}

/** Text of a model or an environment, which is not to be trusted with the terminal. */
const indented = (text: string): string => printable(text).replaceAll("\n", "\n      ");

function said(message: Message, io: Io): string[] {
  const lines = printable(writeMessage(message)).split("\n");
  return lines.map((line, i) => paint(io, "dim", `  ${i === 0 ? `${message.role} ‹` : "      "} ${line}`));
}

function action(
  turn: Turn,
  credit: Float32Array | undefined,
  scale: number,
  io: Io,
  spell: Spell | undefined,
): string {
  const text = indented(writeMessage(turn.action));
  if (credit === undefined || credit.length === 0) return text;
  if (spell === undefined || turn.tokens === undefined) return shade(text, mean(credit) / scale, io);
  const pieces = [...turn.tokens.action].map((id) => printable(spell(id)));
  // a word-level tokenizer gives bare words, others carry their spaces
  const spaced = pieces.some((p) => /^\s|\s$/.test(p));
  return pieces.map((piece, i) => shade(piece, credit[i]! / scale, io)).join(spaced ? "" : " ");
}

/** Green for what was made more likely, red for less; stronger for more. */
function shade(text: string, credit: number, io: Io): string {
  if (Math.abs(credit) < 0.02 || !Number.isFinite(credit)) return text;
  const style = credit > 0 ? (credit > 0.5 ? "greenBright" : "green") : credit < -0.5 ? "redBright" : "red";
  return paint(io, style, text);
}

const mean = (xs: Float32Array): number => xs.reduce((a, b) => a + b, 0) / xs.length;
const signed = (x: number): string => `${x >= 0 ? "+" : ""}${number(x)}`;

export function ending({ end }: Pick<Trajectory, "end">): string {
  switch (end.kind) {
    case "done": {
      const reason = oneLine(end.reason);
      return end.success === undefined
        ? `ended: ${reason}`
        : `${end.success ? "✔ success" : "✘ no success"}: ${reason}`;
    }
    case "truncated":
      return `✘ cut off at ${end.at} ${end.limit}`;
    case "failed":
      return `✘ failed in ${end.boundary}: ${oneLine(end.message)}`;
  }
}

/** An episode of a look at a model: what every role read and wrote, and what that was worth. */
export function episodeLines(played: readonly Trajectory[], io: Io): string[] {
  const [{ task }] = played as [Trajectory];
  const title = paint(io, "bold", `${oneLine(task)}, reward ${number(sumOf(played.map(paid)))}`);
  return [title, ...played.flatMap((trajectory) => transcript({ trajectory }, io))];
}

/** The same as one JSON line. */
export function episodeRecord(played: readonly Trajectory[]) {
  const [{ task }] = played as [Trajectory];
  return {
    type: "episode",
    task,
    success: played.every(succeeded),
    reward: sumOf(played.map(paid)),
    roles: played.map(({ role, turns, end }) => ({ role, turns: turnsAsData(turns, undefined), end })),
  };
}

/** Turns with their numbers as lists. @param advantage of all tokens of the actions. */
export function turnsAsData(turns: readonly Turn[], advantage: Float32Array | undefined) {
  let at = 0;
  return turns.map(({ tokens, ...turn }) => {
    const count = tokens?.action.length ?? 0;
    at += count;
    return {
      ...turn,
      ...(tokens && { actionIds: [...tokens.action], logp: [...tokens.logp] }),
      ...(tokens && advantage && { advantage: [...advantage.subarray(at - count, at)] }),
    };
  });
}

const sumOf = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0);
