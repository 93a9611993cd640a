/** Personal data and secrets, taken out before anything is stored. */
import { createHmac } from "node:crypto";
import type { Json } from "../core/json.ts";
import type { ReceivedSignal, ServedChoice, ServedResponse, Target } from "../core/served.ts";
import type { Message } from "../core/words.ts";
import { boundedPattern } from "./boundedPattern.ts";
import { type PersonalData, personalData, type Rule } from "./personalData.ts";
import type { Write } from "./production.ts";

export interface RedactionOptions {
  /** Default: all that are known. */
  readonly rules?: readonly PersonalData[];
  /** More, by the name that is written in their place; regular expressions without unlimited repetition. */
  readonly patterns?: Readonly<Record<string, string>>;
  /** Equal things get equal names, such as "[email:3kQ_dz0a]", so that they can still be told apart. */
  readonly pseudonyms?: boolean;
  /** Hears of what was taken out, by its name; "tokens" counts replies whose token ids had to go with it. */
  readonly onRedacted?: (what: string, times: number) => void;
}

export interface Redactor {
  text(text: string): string;
  /** As it may be stored. Where words were changed, the token ids that say them go. */
  entry(entry: Write): Write;
  /** The name under which somebody's data is kept: told apart whatever the options say. */
  name(name: string): string;
}

/**
 * What is found is replaced by its kind in brackets. Names of users, sessions and trajectories that hold personal
 * data get pseudonyms, since data is kept and erased by them.
 * @param secret the store's own: pseudonyms are HMACs under it.
 * @throws WhetstoneError `option.range` for a pattern that could run long.
 */
export function redactor(options: RedactionOptions, secret: Uint8Array): Redactor {
  const known: readonly Rule[] = Object.values(personalData);
  const stated = options.rules;
  const rules: readonly Rule[] = [
    ...known.filter(({ name }) => stated === undefined || stated.some((rule) => rule === name)),
    ...Object.entries(options.patterns ?? {}).map(([name, pattern]) => ({
      name,
      pattern: boundedPattern(`redaction pattern ${name}`, pattern),
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
  const text = (given: string): string => replaced(given, rules, placed);
  const name = (given: string): string => replaced(given, rules, pseudonym);
  return {
    text,
    name,
    entry: (entry) =>
      entry.kind === "response"
        ? { kind: "response", response: response(entry.response) }
        : { kind: "signal", signal: signal(entry.signal) },
  };

  function response(given: ServedResponse): ServedResponse {
    const prompt = given.prompt.map(message);
    const samePrompt = prompt.every((m, i) => m === given.prompt[i]);
    return {
      ...given,
      session: name(given.session),
      ...(given.user !== undefined && { user: name(given.user) }),
      trajectory: name(given.trajectory),
      settings: settings(given.settings),
      prompt,
      choices: given.choices.map((choice) => reply(choice, samePrompt)),
      ...(given.error !== undefined && { error: text(given.error) }),
      tags: tags(given.tags),
    };
  }
  function reply({ tokens, ...choice }: ServedChoice, samePrompt: boolean): ServedChoice {
    const said = message(choice.message);
    if (tokens === undefined) return { ...choice, message: said };
    if (samePrompt && said === choice.message) return { ...choice, message: said, tokens };
    options.onRedacted?.("tokens", 1);
    return { ...choice, message: said };
  }
  /** The very same where nothing was found. */
  function message(given: Message): Message {
    const content = text(given.content);
    const calls = given.toolCalls?.map((call) => ({ ...call, arguments: json(call.arguments) }));
    const same =
      content === given.content &&
      (calls ?? []).every((call, i) => call.arguments === given.toolCalls?.[i]?.arguments);
    return same ? given : { ...given, content, ...(calls && { toolCalls: calls }) };
  }
  /** JSON text stays JSON text, and the very same where nothing was found. */
  function json(given: string): string {
    let value: Json;
    try {
      value = JSON.parse(given) as Json;
    } catch {
      return text(given);
    }
    const kept = walk(value);
    const written = JSON.stringify(kept);
    return written === JSON.stringify(value) ? given : written;
  }
  function walk(value: Json): Json {
    if (typeof value === "string") return text(value);
    if (typeof value === "number") {
      const said = text(String(value));
      return said === String(value) ? value : said;
    }
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(walk);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), walk(inner)]));
  }
  function settings(given: ServedResponse["settings"]): ServedResponse["settings"] {
    return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, walk(value)]));
  }
  function tags(given: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, text(value)]));
  }
  function signal(given: ReceivedSignal): ReceivedSignal {
    return {
      ...given,
      about: given.about.map(target),
      ...(given.text !== undefined && { text: text(given.text) }),
      source: name(given.source),
      ...(given.user !== undefined && { user: name(given.user) }),
      tags: tags(given.tags),
    };
  }
  function target(given: Target): Target {
    return {
      ...given,
      ...(given.session !== undefined && { session: name(given.session) }),
      ...(given.trajectory !== undefined && { trajectory: name(given.trajectory) }),
    };
  }
}

/** Each place is the first rule's that finds it. */
function replaced(
  text: string,
  rules: readonly Rule[],
  place: (rule: Rule, found: string) => string,
): string {
  const found: { readonly from: number; readonly to: number; readonly rule: Rule }[] = [];
  /** 1 for each character that a rule has found. */
  let taken: Uint8Array | undefined;
  for (const rule of rules) {
    for (const match of text.matchAll(rule.pattern)) {
      const length = rule.length ? rule.length(match[0]) : match[0].length;
      const [from, to] = [match.index, match.index + length];
      if (length === 0) continue;
      taken ??= new Uint8Array(text.length);
      if (taken.subarray(from, to).includes(1)) continue;
      taken.fill(1, from, to);
      found.push({ from, to, rule });
    }
  }
  if (found.length === 0) return text;
  found.sort((a, b) => a.from - b.from);
  let at = 0;
  let out = "";
  for (const { from, to, rule } of found) {
    out += text.slice(at, from) + place(rule, text.slice(from, to));
    at = to;
  }
  return out + text.slice(at);
}
