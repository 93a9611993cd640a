/** Removes personal data and secrets before anything is stored. */
import { createHmac } from "node:crypto";
import { atOnce, eachOf, type Interruptible, inSlices } from "../common/files/slices.ts";
import { parsed } from "../common/text/toolCalls.ts";
import { isObject, type Json } from "../core/json.ts";
import type { ReceivedSignal, ServedChoice, ServedResponse, Target, TracedCall } from "../core/served.ts";

import type { Id, Message, Tool, ToolCall } from "../core/types.ts";
import { boundedPattern } from "./boundedPattern.ts";
import { type Found, findPlaces } from "./findPlaces.ts";
import { type PersonalData, personalData, type Rule } from "./personalData.ts";
import type { Write } from "./trafficStore.ts";

/** Settings of {@link redactor}. */
export interface RedactionOptions {
  /** Built-in rules to apply. Default: all. */
  readonly rules?: readonly PersonalData[];
  /** Further regular expressions, by the name that replaces a match. Unlimited repetition is not allowed. */
  readonly patterns?: Readonly<Record<string, string>>;
  /** Replaces equal values by equal pseudonyms, such as "[email:3kQ_dz0a]", so that different values stay distinguishable. */
  readonly pseudonyms?: boolean;
  /** Called with each kind of removed data and its count; "tokens" counts replies whose token ids were removed too. */
  readonly onRedacted?: (what: string, times: number) => void;
}

/** Removes personal data from texts, names and entries. */
export interface Redactor {
  text(text: string): string;
  /**
   * Redacts entries. If a text changes, its token ids are removed. Other work gets a turn in between.
   * @param known responses whose ids stay unchanged; other names in a signal may hold anything and are redacted.
   */
  entries(entries: readonly Write[], known?: ReadonlySet<Id>): Promise<readonly Write[]>;
  /** The stored form of a name: names with personal data get pseudonyms, whatever the options. */
  name(name: string): string;
}

/**
 * Replaces each match by its kind in brackets. Names of users, sessions, trajectories, tools, fields and tool calls that hold
 * personal data get pseudonyms, since data is matched and erased by them.
 * @param secret the store's secret: pseudonyms are HMACs under it.
 * @throws WhetstoneError `option.range` for a pattern that could run long.
 */
export function redactor(options: RedactionOptions, secret: Uint8Array): Redactor {
  const known: readonly Rule[] = Object.values(personalData);
  const stated = options.rules;
  const rules: readonly Rule[] = [
    ...known.filter(({ name }) => stated === undefined || stated.some((rule) => rule === name)),
    ...Object.entries(options.patterns ?? {}).map(([name, pattern]) => ({
      name,
      finders: [boundedPattern(`redaction pattern ${name}`, pattern)],
    })),
  ];
  const pseudonym = (rule: Rule, found: string): string => {
    const plain = rule.plain ? rule.plain(found) : found;
    const hash = createHmac("sha256", secret).update(`redacted\0${rule.name}\0${plain}`).digest("base64url");
    return `[${rule.name}:${hash.slice(0, 8)}]`;
  };
  const placed = (rule: Rule, found: string): string => {
    options.onRedacted?.(rule.name, 1);
    return options.pseudonyms === true ? pseudonym(rule, found) : `[${rule.name}]`;
  };
  const text = (given: string) => replaced(given, rules, placed);
  const name = (given: string) => replaced(given, rules, pseudonym);
  const entry = entryRedaction(text, name, options.onRedacted);
  return {
    text: (given) => atOnce(text(given)),
    name: (given) => atOnce(name(given)),
    entries: (given, known = new Set()) => inSlices(eachOf(given, (one) => entry(one, known))),
  };
}

/** Replaces what was found in a text or a name. Gives the very same where nothing was found. */
type Change<T> = (given: T) => Interruptible<T>;

function entryRedaction(
  text: Change<string>,
  name: Change<string>,
  onRedacted: RedactionOptions["onRedacted"],
): (given: Write, known: ReadonlySet<Id>) => Interruptible<Write> {
  const { walk, record } = jsonRedaction(text, name);
  const message = messageRedaction(text, name);
  return entry;

  function* entry(given: Write, known: ReadonlySet<Id>): Interruptible<Write> {
    switch (given.kind) {
      case "response":
        return { kind: "response", response: yield* response(given.response) };
      case "traced":
        return { kind: "traced", call: yield* traced(given.call) };
      case "signal":
        return { kind: "signal", signal: yield* signal(given.signal, known) };
    }
  }
  function* traced(given: TracedCall): Interruptible<TracedCall> {
    const { user, input, output, error } = given;
    return {
      ...given,
      session: yield* name(given.session),
      ...(user !== undefined && { user: yield* name(user) }),
      name: yield* name(given.name),
      ...(input !== undefined && { input: yield* text(input) }),
      ...(output !== undefined && { output: yield* text(output) }),
      ...(error !== undefined && { error: yield* text(error) }),
      tags: yield* record(given.tags, text),
    };
  }
  function* response(given: ServedResponse): Interruptible<ServedResponse> {
    const prompt = yield* eachOf(given.prompt, message);
    const samePrompt = prompt.every((m, i) => m === given.prompt[i]);
    return {
      ...given,
      session: yield* name(given.session),
      ...(given.user !== undefined && { user: yield* name(given.user) }),
      trajectory: yield* name(given.trajectory),
      model: yield* name(given.model),
      settings: yield* record(given.settings, walk),
      prompt,
      choices: yield* eachOf(given.choices, (choice) => reply(choice, samePrompt)),
      ...(given.error !== undefined && { error: yield* text(given.error) }),
      channels: yield* eachOf(given.channels, name),
      tags: yield* record(given.tags, text),
    };
  }
  function* reply({ tokens, ...choice }: ServedChoice, samePrompt: boolean): Interruptible<ServedChoice> {
    const said = yield* message(choice.message);
    if (tokens === undefined) return { ...choice, message: said };
    if (samePrompt && said === choice.message) return { ...choice, message: said, tokens };
    onRedacted?.("tokens", 1);
    return { ...choice, message: said };
  }
  function* signal(given: ReceivedSignal, known: ReadonlySet<Id>): Interruptible<ReceivedSignal> {
    return {
      ...given,
      channel: yield* name(given.channel),
      ...(given.key !== undefined && { key: yield* name(given.key) }),
      about: yield* eachOf(given.about, (one) => target(one, known)),
      ...(given.text !== undefined && { text: yield* text(given.text) }),
      source: yield* name(given.source),
      ...(given.user !== undefined && { user: yield* name(given.user) }),
      tags: yield* record(given.tags, text),
    };
  }
  function* target(given: Target, known: ReadonlySet<Id>): Interruptible<Target> {
    const { response } = given;
    return {
      ...given,
      ...(response !== undefined && { response: known.has(response) ? response : yield* name(response) }),
      ...(given.session !== undefined && { session: yield* name(given.session) }),
      ...(given.trajectory !== undefined && { trajectory: yield* name(given.trajectory) }),
    };
  }
}

/** Changes messages, with their tools and tool calls. */
function messageRedaction(text: Change<string>, name: Change<string>): Change<Message> {
  const { json, walk } = jsonRedaction(text, name);
  return message;

  /** The very same where nothing was found. */
  function* message(given: Message): Interruptible<Message> {
    const content = yield* text(given.content);
    const who = given.name === undefined ? undefined : yield* name(given.name);
    const toolCalls = given.toolCalls && (yield* eachOf(given.toolCalls, call));
    const toolCallId = given.toolCallId === undefined ? undefined : yield* name(given.toolCallId);
    const tools = given.tools && (yield* eachOf(given.tools, tool));
    const same =
      content === given.content &&
      who === given.name &&
      toolCalls === given.toolCalls &&
      toolCallId === given.toolCallId &&
      tools === given.tools;
    if (same) return given;
    return {
      ...given,
      content,
      ...(who !== undefined && { name: who }),
      ...(toolCalls && { toolCalls }),
      ...(toolCallId !== undefined && { toolCallId }),
      ...(tools && { tools }),
    };
  }
  /** An id stays the one that its result names. */
  function* call(given: ToolCall): Interruptible<ToolCall> {
    const [id, called, args] = [yield* name(given.id), yield* name(given.name), yield* json(given.arguments)];
    const same = id === given.id && called === given.name && args === given.arguments;
    return same ? given : { id, name: called, arguments: args };
  }
  function* tool(given: Tool): Interruptible<Tool> {
    const called = yield* name(given.name);
    const description = yield* text(given.description);
    const parameters = yield* walk(given.parameters);
    const same =
      called === given.name && description === given.description && parameters === given.parameters;
    return same ? given : { name: called, description, parameters };
  }
}

/** Changes JSON: texts and numbers in it as texts, and keys as names. */
function jsonRedaction(text: Change<string>, name: Change<string>) {
  return { json, walk, record };

  /** JSON text stays JSON text unless it is very long, and the very same where nothing was found. */
  function* json(given: string): Interruptible<string> {
    const value = given.length > mostParsed ? undefined : parsed(given);
    if (value === undefined) return yield* text(given);
    const kept = yield* walk(value);
    return kept === value ? given : JSON.stringify(kept);
  }
  /** The very same where nothing was found. */
  function* walk(value: Json): Interruptible<Json> {
    if (typeof value === "string") return yield* text(value);
    if (typeof value === "number") {
      const said = yield* text(String(value));
      return said === String(value) ? value : said;
    }
    if (isObject(value)) return yield* record(value, walk);
    return Array.isArray(value) ? yield* eachOf(value as readonly Json[], walk) : value;
  }
  function* record<T>(
    given: Readonly<Record<string, T>>,
    change: (value: T) => Interruptible<T>,
  ): Interruptible<Readonly<Record<string, T>>> {
    const entries = Object.entries(given);
    const kept = yield* eachOf(entries, function* ([key, value]): Interruptible<[string, T]> {
      return [yield* name(key), yield* change(value)];
    });
    const same = kept.every(([key, value], i) => key === entries[i]?.[0] && value === entries[i]?.[1]);
    return same ? given : Object.fromEntries(kept);
  }
}

/** @param place what stands there afterwards. */
function* replaced(
  text: string,
  rules: readonly Rule[],
  place: (rule: Rule, found: string) => string,
): Interruptible<string> {
  const found = yield* findPlaces(text, rules);
  if (found.length === 0) return text;
  const parts: string[] = [];
  let part: string[] = [];
  let at = 0;
  for (const [rule, from, to] of inOrder(found)) {
    part.push(text.slice(at, from), place(rule, text.slice(from, to)));
    at = to;
    if (part.length < mostJoined) continue;
    parts.push(part.join(""));
    part = [];
    yield;
  }
  return [...parts, ...part, text.slice(at)].join("");
}

/** Places of several rules, none of which meet. */
function* inOrder(found: readonly Found[]): Generator<readonly [rule: Rule, from: number, to: number]> {
  const left = found.map(({ rule, places }) => ({ rule, places, next: 0 }));
  for (;;) {
    let first: (typeof left)[number] | undefined;
    for (const one of left) {
      if (one.next === one.places.length) continue;
      if (!first || one.places[one.next]! < first.places[first.next]!) first = one;
    }
    if (!first) return;
    const { rule, places, next } = first;
    first.next += 2;
    yield [rule, places[next]!, places[next + 1]!];
  }
}

/** Texts that are put together in one go, and characters of JSON that is read as such. */
const [mostJoined, mostParsed] = [1 << 11, 1 << 18];
