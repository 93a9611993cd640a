/** Converts responses and signals to rows and back. A trajectory's prompts share their common beginning. */
import { isDeepStrictEqual } from "node:util";
import { concatIds } from "../common/tokens/sequence.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { ReceivedSignal, ServedChoice, ServedResponse, TracedCall } from "../core/served.ts";
import type { Message } from "../core/types.ts";
import { packHead } from "./head.ts";
import type { ResponsesTable, SignalsTable, SignalTargetsTable, TracedCallsTable } from "./schema.ts";
import { commonPrefix, type TokenLayout, tokenReader, tokenWriter } from "./tokens.ts";
import type { Write } from "./trafficStore.ts";

/** The parts of a response without a column of their own. */
interface ResponseData
  extends Pick<ServedResponse, "settings" | "error" | "usage" | "channels" | "tags" | "prompt"> {
  /** Messages at the start of the prompt that are those of the base, prompt and reply. */
  readonly keep: number;
  /** The choice of the base response that the prompt continues. */
  readonly reply?: number;
  readonly choices: readonly (Omit<ServedChoice, "tokens"> & { readonly layout?: TokenLayout })[];
}

type TracedData = Pick<TracedCall, "input" | "output" | "error" | "tags">;

export function packTraced({ id, session, user, kind, name, at, ms, ...rest }: TracedCall): TracedCallsTable {
  const data: TracedData = rest;
  return { id, session, user_id: user ?? null, kind, name, at, ms, data: JSON.stringify(data) };
}

export function unpackTraced({ user_id, data, kind, ...row }: TracedCallsTable): TracedCall {
  return {
    ...row,
    kind: kind as TracedCall["kind"],
    ...(user_id !== null && { user: user_id }),
    ...(JSON.parse(data) as TracedData),
  };
}

type SignalData = Pick<ReceivedSignal, "about" | "best" | "text" | "tags">;

const none: Int32Array = new Int32Array(0);

/** Approximate number of characters in a message. It costs less than the message's text. */
export function weightOfMessage({ content, toolCalls = [], tools }: Message): number {
  let n = 100 + content.length;
  for (const call of toolCalls) n += call.arguments.length;
  if (tools) n += JSON.stringify(tools).length;
  return n;
}

/** Approximate number of characters and tokens in a response; bounds the memory of queues and caches. */
export function weightOf({ prompt, choices, settings }: ServedResponse): number {
  let n = JSON.stringify(settings).length;
  for (const message of prompt) n += weightOfMessage(message);
  for (const { message, tokens } of choices) {
    n += weightOfMessage(message);
    if (tokens) n += 8 * (tokens.prompt.length + tokens.action.length);
  }
  return n;
}

/** @param base a response of the same trajectory that is stored, or will be in the same transaction. */
export function packResponse(response: ServedResponse, base?: ServedResponse): ResponsesTable {
  const { id, session, user, trajectory, turn, origin, at, ms, version, propensity, split, model } = response;
  const { settings, error, usage, channels, tags, prompt, status } = response;
  const { keep, reply } = base === undefined ? { keep: 0, reply: undefined } : shared(prompt, base);
  const writer = tokenWriter();
  const before = base && keep > 0 ? known(base, reply) : none;
  const first = response.choices[0]?.tokens?.prompt;
  const choices = response.choices.map(({ tokens, ...choice }, c) => ({
    ...choice,
    ...(tokens && {
      layout: writer.add(tokens, commonPrefix(tokens.prompt, c === 0 ? before : (first ?? none))),
    }),
  }));
  const data: ResponseData = {
    settings,
    ...(error !== undefined && { error }),
    ...(usage && { usage }),
    channels,
    tags,
    keep,
    ...(reply !== undefined && { reply }),
    prompt: prompt.slice(keep),
    choices,
  };
  return {
    id,
    session,
    user_id: user ?? null,
    trajectory,
    turn,
    origin,
    at,
    ms,
    version,
    propensity,
    split: split ?? null,
    model,
    status,
    base: base && keep > 0 ? base.id : null,
    data: JSON.stringify(data),
    ...writer.columns(),
    head: packHead(response),
  };
}

/** @param base the response that the row names as its base; undefined if it names none. */
export function unpackResponse(row: ResponsesTable, base?: ServedResponse): ServedResponse {
  const { keep, reply, choices, prompt, ...data } = JSON.parse(row.data) as ResponseData;
  const read = tokenReader(row);
  const before = base ? known(base, reply) : none;
  let first: Int32Array = none;
  return {
    id: row.id,
    session: row.session,
    ...(row.user_id !== null && { user: row.user_id }),
    trajectory: row.trajectory,
    turn: row.turn,
    origin: row.origin as ServedResponse["origin"],
    at: row.at,
    ms: row.ms,
    version: row.version,
    propensity: row.propensity,
    ...(row.split !== null && { split: row.split }),
    model: row.model,
    status: row.status as ServedResponse["status"],
    ...data,
    prompt: base ? [...said(base, reply).slice(0, keep), ...prompt] : prompt,
    choices: choices.map(({ layout, ...choice }, c) => {
      if (layout === undefined) return choice;
      const known = c === 0 ? before : first;
      const tokens = read(layout, (keep, added) => concatIds([known.subarray(0, keep), added]));
      if (c === 0) first = tokens.prompt;
      return { ...choice, tokens };
    }),
  };
}

/** The conversation up to and including the reply that it continues. */
function said(base: ServedResponse, reply: number | undefined): readonly Message[] {
  const answer = reply === undefined ? undefined : base.choices[reply];
  return answer ? [...base.prompt, answer.message] : base.prompt;
}

/** Its tokens, if the backend returned them. */
function known(base: ServedResponse, reply = 0): Int32Array {
  const tokens = base.choices[reply]?.tokens;
  return tokens ? concatIds([tokens.prompt, tokens.action]) : none;
}

/** How much of a prompt is the base's prompt, and one of its replies after that. */
function shared(prompt: readonly Message[], base: ServedResponse): { keep: number; reply?: number } {
  let keep = 0;
  const most = Math.min(prompt.length, base.prompt.length);
  while (keep < most && sameMessage(prompt[keep]!, base.prompt[keep]!)) keep++;
  const next = prompt[keep];
  if (keep < base.prompt.length || next === undefined) return { keep };
  const reply = base.choices.findIndex((choice) => sameMessage(choice.message, next));
  return reply < 0 ? { keep } : { keep: keep + 1, reply };
}

const sameMessage = (a: Message, b: Message): boolean =>
  a === b || (a.content === b.content && isDeepStrictEqual(a, b));

/**
 * The same response; what of its prompt was said in the base is the base's own objects. Held in memory, a conversation is there
 * once, however often its beginning was sent: what is new of a turn is all that a collection of garbage has to move.
 */
export function sharing(response: ServedResponse, base: ServedResponse): ServedResponse {
  const { keep, reply } = shared(response.prompt, base);
  return { ...response, prompt: [...said(base, reply).slice(0, keep), ...response.prompt.slice(keep)] };
}

export function packSignal(signal: ReceivedSignal): SignalsTable {
  const { about, best, text, tags } = signal;
  const data: SignalData = {
    about,
    ...(best !== undefined && { best }),
    ...(text !== undefined && { text }),
    tags,
  };
  return {
    id: signal.id,
    key: signal.key ?? null,
    kind: signal.kind,
    channel: signal.channel,
    source: signal.source,
    user_id: signal.user ?? null,
    value: signal.value ?? null,
    at: signal.at,
    received: signal.received,
    data: JSON.stringify(data),
  };
}

export function unpackSignal(row: SignalsTable): ReceivedSignal {
  return {
    id: row.id,
    ...(row.key !== null && { key: row.key }),
    kind: row.kind as ReceivedSignal["kind"],
    channel: row.channel,
    source: row.source,
    ...(row.user_id !== null && { user: row.user_id }),
    ...(row.value !== null && { value: row.value }),
    at: row.at,
    received: row.received,
    ...(JSON.parse(row.data) as SignalData),
  };
}

/** The targets of a signal, each once. */
export function targetsOf(signal: ReceivedSignal): SignalTargetsTable[] {
  const rows = signal.about.flatMap(({ response, session, trajectory }) =>
    Object.entries({ response, session, trajectory }).flatMap(([what, name]) =>
      name === undefined ? [] : [{ what, name, signal: signal.id }],
    ),
  );
  return rows.filter((row, i) => rows.findIndex((r) => r.what === row.what && r.name === row.name) === i);
}

/** The longest name that an index of PostgreSQL is sure to take is longer. */
const longest = 512;

/** @throws WhetstoneError `store.refused` for what one of the databases could not keep as it is. */
export function requireStorable(entry: Write): void {
  const names = namesIn(entry);
  const where = (name: string): string => `${entry.kind}: ${name}`;
  for (const [name, text] of names) {
    if (text === undefined) continue;
    if (text.length <= longest && text.isWellFormed() && !text.includes("\0")) continue;
    throw new WhetstoneError("store.refused", {
      where: where(name),
      got: text.length > longest ? `${text.length} characters` : "a NUL character or half a surrogate pair",
      expected: `well-formed text of at most ${longest} characters`,
      fix: "Send a shorter text without such characters.",
    });
  }
  const numbers = numbersIn(entry);
  for (const [name, number] of Object.entries(numbers)) {
    if (Number.isFinite(number) && (name !== "turn" || isTurn(number))) continue;
    throw new WhetstoneError("store.refused", {
      where: where(name),
      got: String(number),
      expected: name === "turn" ? "a whole number from 0" : "a finite number",
      fix: "Correct it.",
    });
  }
}

function namesIn(entry: Write): readonly (readonly [name: string, text: string | undefined])[] {
  switch (entry.kind) {
    case "response":
      return namesOf(entry.response, ["id", "session", "user", "trajectory", "version", "split", "model"]);
    case "traced":
      return namesOf(entry.call, ["id", "session", "user", "name"]);
    case "signal":
      return [
        ...namesOf(entry.signal, ["id", "key", "channel", "source", "user"]),
        ...targetsOf(entry.signal).map(({ what, name }) => [what, name] as const),
      ];
  }
}

function numbersIn(entry: Write): Readonly<Record<string, number>> {
  switch (entry.kind) {
    case "response":
      return timesOf(entry.response);
    case "traced":
      return { at: entry.call.at, ms: entry.call.ms };
    case "signal":
      return amountsOf(entry.signal);
  }
}

const timesOf = ({ at, ms, propensity, turn }: ServedResponse) => ({ at, ms, propensity, turn });
const amountsOf = ({ at, received, value = 0, best = 0 }: ReceivedSignal) => ({ at, received, value, best });
const isTurn = (n: number): boolean => Number.isInteger(n) && n >= 0 && n < 2 ** 31;

const namesOf = <K extends string>(
  from: { readonly [k in K]?: string },
  names: readonly K[],
): readonly (readonly [name: string, text: string | undefined])[] =>
  names.map((name) => [name, from[name]] as const);
