/** Assembles a response from a whole body or from the chunks of a stream. */
import { countOf, type Json, listOf, numberOf, objectOf, textOf } from "../../core/json.ts";
import type { ServedChoice, ServedResponse } from "../../core/served.ts";
import type { Message, StopReason, ToolCall, TurnTokens } from "../../core/types.ts";

/** A response, complete or partial. */
export interface Assembled {
  readonly choices: readonly ServedChoice[];
  readonly usage?: NonNullable<ServedResponse["usage"]>;
  /** The upstream's id. */
  readonly id?: string;
  /** An error that the upstream sent instead of a response, or in the middle of one. */
  readonly error?: string;
}

/** Which distribution log-probabilities belong to: the model's own (raw), or the one after temperature and truncation (processed). */
export type LogprobMode = "raw" | "processed";

export interface Assembler {
  /** Adds a `chat.completion` or one `chat.completion.chunk`. @throws RangeError if the total exceeds the limits of a response. */
  take(body: Json): void;
  /** Whether every reply that began has ended. */
  ended(): boolean;
  /** Whether the last event of a stream was taken. Absent: `[DONE]` says so. */
  isDone?(): boolean;
  result(): Assembled;
}

/** Most replies and tool calls of one response, characters of its call arguments, and tokens: far above any legitimate response. */
const most = { parts: 4096, characters: 2 ** 20, tokens: 2 ** 20 } as const;

interface Growing {
  content: string;
  readonly calls: Map<number, { id: string; name: string; arguments: string }>;
  finish: string | undefined;
  /** Whether vLLM reported a stop string or stop token. */
  stopped: boolean;
  readonly ids: number[];
  readonly logps: number[];
}

/**
 * Joins content deltas, tool-call deltas by their index, and log-probabilities and token ids in order. Keeps exact tokens if
 * the response has the ids of prompt and reply and one log-probability for each reply token.
 * @param mode of the log-probabilities. @param plain whether both distributions are equal: temperature 1, no truncation.
 */
export function assembler(mode: LogprobMode, plain: boolean): Assembler {
  const growing = new Map<number, Growing>();
  let id: string | undefined;
  let error: string | undefined;
  let usage: Assembled["usage"];
  let promptIds: readonly number[] = [];

  const counted = { parts: 0, characters: 0, tokens: 0 };

  function count(what: keyof typeof most, more: number): void {
    counted[what] += more;
    if (counted[what] > most[what]) throw new RangeError(`it has more than ${most[what]} ${names[what]}`);
  }

  function takeChoice(value: Json): void {
    const choice = objectOf(value);
    if (!choice) return;
    const index = numberOf(choice.index) ?? 0;
    const one = growing.get(index) ?? fresh();
    if (!growing.has(index)) count("parts", 1);
    growing.set(index, one);
    const said = objectOf(choice.delta) ?? objectOf(choice.message) ?? {};
    one.content += textOf(said.content) ?? textOf(said.refusal) ?? "";
    listOf(said.tool_calls).forEach((piece, at) => {
      const before = one.calls.size;
      count("characters", takeCall(one, piece, at));
      count("parts", one.calls.size - before);
    });
    one.finish = textOf(choice.finish_reason) ?? one.finish;
    one.stopped ||= typeof choice.stop_reason === "string" || typeof choice.stop_reason === "number";
    for (const token of numbers(choice.token_ids)) one.ids.push(token);
    for (const token of listOf(objectOf(choice.logprobs)?.content)) {
      one.logps.push(numberOf(objectOf(token)?.logprob) ?? Number.NaN);
    }
    count("tokens", listOf(choice.token_ids).length + listOf(objectOf(choice.logprobs)?.content).length);
    // some servers repeat the prompt's ids in each choice
    if (promptIds.length === 0) promptIds = numbers(choice.prompt_token_ids);
  }

  function tokensOf({ ids, logps }: Growing): TurnTokens | undefined {
    if (promptIds.length === 0 || ids.length === 0 || logps.length !== ids.length) return undefined;
    const given = Float32Array.from(logps);
    const unknown = new Float32Array(ids.length).fill(Number.NaN);
    return {
      prompt: Int32Array.from(promptIds),
      action: Int32Array.from(ids),
      logp: plain || mode === "raw" ? given : unknown,
      behaviour: plain || mode === "processed" ? given : unknown,
    };
  }

  return {
    take(value) {
      const body = objectOf(value);
      if (!body) return;
      id ??= textOf(body.id);
      const failed = objectOf(body.error);
      if (failed) error = textOf(failed.message) ?? JSON.stringify(failed);
      if (promptIds.length === 0) promptIds = numbers(body.prompt_token_ids);
      const used = objectOf(body.usage);
      const input = countOf(used?.prompt_tokens ?? 0);
      const output = countOf(used?.completion_tokens ?? 0);
      // what is negative would pay a budget back
      if (used && input !== undefined && output !== undefined) usage = { input, output };
      for (const choice of listOf(body.choices)) takeChoice(choice);
    },
    ended: () => growing.size > 0 && [...growing.values()].every((one) => one.finish !== undefined),
    result: () => ({
      choices: [...growing]
        .sort(([a], [b]) => a - b)
        .map(([, one]) => {
          const tokens = tokensOf(one);
          return { message: messageOf(one), stop: stopOf(one), ...(tokens ? { tokens } : {}) };
        }),
      ...(usage ? { usage } : {}),
      ...(id ? { id } : {}),
      ...(error === undefined ? {} : { error }),
    }),
  };
}

const names = {
  parts: "choices and calls",
  characters: "characters of arguments",
  tokens: "tokens",
} as const;

const fresh = (): Growing => ({
  content: "",
  calls: new Map(),
  finish: undefined,
  stopped: false,
  ids: [],
  logps: [],
});

const numbers = (value: Json | undefined): number[] =>
  listOf(value).filter((x): x is number => typeof x === "number");

/** Adds a tool-call delta; without an index, its position in the list is the index. @returns how many characters the arguments grew by. */
function takeCall(one: Growing, value: Json, at: number): number {
  const piece = objectOf(value) ?? {};
  const index = numberOf(piece.index) ?? at;
  const call = one.calls.get(index) ?? { id: "", name: "", arguments: "" };
  one.calls.set(index, call);
  const custom = objectOf(piece.custom);
  const named = objectOf(piece.function) ?? custom ?? {};
  // ids and names come whole, once or repeatedly
  call.id = textOf(piece.id) || call.id;
  call.name = textOf(named.name) || call.name;
  const more = textOf(custom ? custom.input : named.arguments) ?? "";
  call.arguments += more;
  return more.length;
}

function messageOf({ content, calls }: Growing): Message {
  const toolCalls: ToolCall[] = [...calls].sort(([a], [b]) => a - b).map(([, call]) => call);
  return { role: "assistant", content, ...(toolCalls.length > 0 ? { toolCalls } : {}) };
}

function stopOf({ finish, stopped }: Growing): StopReason {
  switch (finish) {
    case "length":
      return "length";
    case undefined:
    case "content_filter":
      return "cut";
    default:
      return stopped ? "stop" : "eos";
  }
}
