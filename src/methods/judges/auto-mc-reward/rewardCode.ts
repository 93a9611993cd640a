/** Reward functions as code: what they may see, how they are run, and what their numbers pay. */
import { z } from "zod";
import type { Trajectory, Turn } from "../../../core/types.ts";
import { type JavaScriptSandbox, javaScriptSandbox } from "../../../sandbox/javascript.ts";
import { inWords } from "../../../sandbox/outcome.ts";

/** What reward code sees of a state: plain values by name, and nothing else. */
export type Fields = Readonly<Record<string, number | string | boolean>>;

/** The fields of what was seen before an action. */
export type FieldsOf = (turn: Turn) => Fields;

/** The text that was seen. */
export const seenText: FieldsOf = ({ prompt }) => ({ text: prompt.at(-1)?.content ?? "" });

/** What code said of a transition. */
export interface Said {
  readonly dense: number;
  readonly sparse: number;
}

/** What code said of every transition of every attempt, or why it cannot be used. */
export type Ran =
  | { readonly kind: "ok"; readonly said: readonly (readonly Said[])[] }
  | { readonly kind: "error"; readonly message: string };

/** What an author of reward code is told about its form. */
export const rewardForm =
  "function reward(before, after, memory) returns { dense, sparse }: two numbers for one transition. before and after hold the fields of two states that follow each other, memory is an object that is empty at the beginning of an episode.";

/** One for all runs of this process, begun with the first code. */
let shared: JavaScriptSandbox | undefined;
const sandbox = (): JavaScriptSandbox =>
  (shared ??= javaScriptSandbox({ limits: { output: 4_000_000, steps: 5_000_000 } }));

const result = z.array(z.array(z.tuple([z.number(), z.number()])));

/**
 * Runs reward code over attempts in a sandbox without files, network or clock, where it sees the given fields and nothing else. The frames of an
 * attempt are the fields before each of its actions, so that n frames are n − 1 transitions. An error is one for all attempts: code that throws,
 * runs too long, or returns something else than two finite numbers, for whatever transition.
 */
export async function ranReward(code: string, attempts: readonly (readonly Fields[])[]): Promise<Ran> {
  // most states come again
  const indices = new Map<string, number>();
  const episodes = attempts.map((frames) =>
    frames.map((frame) => {
      const text = JSON.stringify(frame);
      const index = indices.get(text) ?? indices.size;
      indices.set(text, index);
      return index;
    }),
  );
  const calls = `(() => {
    const states = [${[...indices.keys()].join()}].map(Object.freeze);
    return ${JSON.stringify(episodes)}.map((frames) => {
      const memory = {};
      return frames.slice(1).map((now, k) => {
        const { dense, sparse } = reward(states[frames[k]], states[now], memory);
        return [dense, sparse];
      });
    });
  })()`;
  const outcome = await sandbox().run({ scripts: [code, calls] });
  if (outcome.kind !== "ok") return { kind: "error", message: inWords(outcome) };
  const parsed = result.safeParse(jsonIn(outcome.values[1] ?? ""));
  // the code shares its world with the calls, and may have changed what they return
  const fits =
    parsed.success &&
    parsed.data.length === attempts.length &&
    parsed.data.every((row, i) => row.length === Math.max(0, attempts[i]!.length - 1));
  if (!fits) return { kind: "error", message: "dense and sparse must be finite numbers in every transition" };
  return { kind: "ok", said: parsed.data.map((row) => row.map(([dense, sparse]) => ({ dense, sparse }))) };
}

/** Undefined for text that is no JSON, such as that of NaN. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * What a transition is paid, in [−1.1, 1.1] at a weight of 0.1, so that no number an author invents can outweigh another:
 *
 *     r = sgn(sparse) + weight · sgn(dense)
 *
 * Paper: "Auto MC-Reward: Automated Dense Reward Design with Large Language Models for Minecraft".
 */
export const paid = ({ dense, sparse }: Said, weight: number): number =>
  Math.sign(sparse) + weight * Math.sign(dense) + 0;

/** The frames of an attempt. */
export const framesOf = ({ turns }: Trajectory, fieldsOf: FieldsOf): readonly Fields[] => turns.map(fieldsOf);
