/** Rows of training data in the formats of other tools. */

import { mean } from "../../common/statistics/statistics.ts";
import { signalValue } from "../../core/signal.ts";
import type { TrainingExample } from "../../core/trainingExamples.ts";
import type { Message, Trajectory } from "../../core/types.ts";
import { hfConversation, hfMessage } from "./messages.ts";

/** Options for converting training examples into rows. */
export interface RowOptions {
  /** Only conversations with at least this mean rating (scores, reactions and rewards with a value). */
  readonly minRating?: number;
}

/** The row of a training example; undefined if this format has none for it. */
type MakeRow = (
  example: TrainingExample,
  options: RowOptions,
) => Readonly<Record<string, unknown>> | undefined;

/** The prompt of a single reply, with its tools, and the reply. */
function singleOf(
  t: Trajectory,
): { readonly prompt: readonly Message[]; readonly reply: Message } | undefined {
  const [turn] = t.turns;
  return turn && { prompt: turn.prompt, reply: turn.action };
}

function asked(prompt: readonly Message[]) {
  const { messages, tools } = hfConversation(prompt);
  return { prompt: messages, ...(tools === undefined ? {} : { tools }) };
}

/** Every format by its name. The columns are those of TRL's conversational formats. */
export const exportFormats = {
  /** Whole conversations: `{messages, tools?}`. */
  messages: (example, options) => {
    if (example.kind !== "conversation" || !isRated(example, options)) return undefined;
    const last = example.logged.trajectory.turns.at(-1);
    return last && { ...hfConversation([...last.prompt, last.action]) };
  },
  /** Demonstrations and, with a minimum rating, also the replies of conversations that reach it: `{prompt, completion}`. */
  "trl-sft": (example, options) => {
    if (example.kind === "demonstration") {
      const shown = singleOf(example.shown);
      return shown && { ...asked(shown.prompt), completion: [hfMessage(shown.reply)] };
    }
    if (example.kind !== "conversation" || options.minRating === undefined || !isRated(example, options)) {
      return undefined;
    }
    const last = example.logged.trajectory.turns.at(-1);
    return last && { ...asked(last.prompt), completion: [hfMessage(last.action)] };
  },
  /** `{prompt, chosen, rejected}`. */
  "trl-preference": (example) => {
    if (example.kind !== "pair" || example.strength < 0.5) return undefined;
    const [chosen, rejected] = [singleOf(example.chosen), singleOf(example.rejected)];
    if (!chosen || !rejected) return undefined;
    return {
      ...asked(chosen.prompt),
      chosen: [hfMessage(chosen.reply)],
      rejected: [hfMessage(rejected.reply)],
    };
  },
  /** `{prompt, completion, label}`. */
  "trl-unpaired": (example) => {
    const judged = example.kind === "rating" ? singleOf(example.reply) : undefined;
    if (example.kind !== "rating" || !judged) return undefined;
    return { ...asked(judged.prompt), completion: [hfMessage(judged.reply)], label: example.good };
  },
  /** First prompts: `{prompt}`. */
  "trl-prompts": (example, options) =>
    example.kind === "conversation" && isRated(example, options) ? asked(example.task.prompt) : undefined,
} as const satisfies Readonly<Record<string, MakeRow>>;
/** Name of a format in which training data can be written. See {@link exportFormats}. */
export type ExportFormat = keyof typeof exportFormats;

function isRated(
  { logged }: Extract<TrainingExample, { kind: "conversation" }>,
  { minRating }: RowOptions,
): boolean {
  if (minRating === undefined) return true;
  const values = logged.signals.flatMap((signal) =>
    signal.kind === "preference" ? [] : (signalValue(signal) ?? []),
  );
  return values.length > 0 && mean(values) >= minRating;
}
