/** Applies an artefact: what it adds to a conversation before a model reads it. Pure: retrieval and hints are arguments. */
import type { Artefact, Case, Example, LibraryEntry } from "../../core/artefact.ts";
import type { Id, Message } from "../../core/types.ts";
import { withSystem } from "../text/systemMessage.ts";

/** Relevance of each text to a situation: higher is better, 0 means no evidence of relevance. */
export type Rank = (situation: string, texts: readonly string[]) => readonly number[];

/** How much of an artefact is shown, and which parts of it: limits, ranking, and the hint of a guide. */
export interface ApplyOptions {
  /** Largest number of characters of examples, lessons and cases together; the least relevant ones are left out. Default 8000. */
  readonly characters?: number;
  /** Largest number of lessons, cases or examples. Default 8. */
  readonly most?: number;
  /** Default {@link sharedWords}. */
  readonly rank?: Rank;
  /** The guide's hint. Without one, a guide adds nothing. */
  readonly hint?: string;
}

/** What an artefact adds to one conversation. */
export interface PromptAddition {
  /** "" where nothing is added. */
  readonly system: string;
  /** `system` replaces the existing system message instead of following it. */
  readonly instead: boolean;
  /** Messages between the system message and the rest. */
  readonly examples: readonly Message[];
  /** Replacement descriptions, by tool name. */
  readonly tools: Readonly<Record<string, string>>;
  /** Ids of the lessons, cases and examples that are shown, so that the outcome can be credited to them. */
  readonly shown: readonly Id[];
}

const none: PromptAddition = { system: "", instead: false, examples: [], tools: {}, shown: [] };

/**
 * What an artefact adds to a conversation. Instructions are never shortened. Lessons are sorted by relevance, ties by
 * score; cases with relevance 0 are left out.
 */
export function promptAdditionOf(
  artefact: Artefact,
  messages: readonly Message[],
  options: ApplyOptions = {},
): PromptAddition {
  switch (artefact.kind) {
    case "instructions": {
      const { system, tools, instead = false } = artefact;
      const shown = fitting(artefact.examples, textOfExample, options);
      const examples = shown.flatMap((example) => example.messages);
      return { system, instead, examples, tools, shown: idsOf(shown) };
    }
    case "experience": {
      const fits = ranked(artefact.entries, textOfEntry, messages, options);
      const best = fits.toSorted((a, b) => b.fit - a.fit || b.part.score - a.part.score);
      const shown = fitting(
        best.map(({ part }) => part),
        textOfEntry,
        options,
      );
      if (shown.length === 0) return none;
      const lines = ["Learnt before:", ...shown.map((entry) => `- ${textOfEntry(entry)}`)];
      return { ...none, system: lines.join("\n"), shown: idsOf(shown) };
    }
    case "cases": {
      const fits = ranked(artefact.cases, ({ situation }) => situation, messages, options);
      const best = fits.filter(({ fit }) => fit > 0).toSorted((a, b) => b.fit - a.fit);
      const shown = fitting(
        best.map(({ part }) => part),
        textOfCase,
        options,
      );
      if (shown.length === 0) return none;
      return {
        ...none,
        system: ["Earlier cases like this one:", ...shown.map(textOfCase)].join("\n\n"),
        shown: idsOf(shown),
      };
    }
    case "guide": {
      const { hint = "" } = options;
      return hint === "" ? none : { ...none, system: artefact.frame.replaceAll("{hint}", () => hint) };
    }
    case "rubrics":
    case "tree":
      return none;
  }
}

/** The conversation with the addition. */
export function withPromptAddition(
  messages: readonly Message[],
  { system, instead, examples, tools }: PromptAddition,
): readonly Message[] {
  const described = Object.keys(tools).length === 0 ? messages : messages.map((m) => redescribed(m, tools));
  const told =
    system === ""
      ? described
      : withSystem(described, (first) => ({ ...first, content: systemText(first.content, system, instead) }));
  if (examples.length === 0) return told;
  const rest = told[0]?.role === "system" ? 1 : 0;
  return [...told.slice(0, rest), ...examples, ...told.slice(rest)];
}

/** A conversation with an artefact applied, and the ids of the parts that are shown. */
export function applyArtefact(
  artefact: Artefact,
  messages: readonly Message[],
  options: ApplyOptions = {},
): { readonly messages: readonly Message[]; readonly shown: readonly Id[] } {
  const addition = promptAdditionOf(artefact, messages, options);
  return { messages: withPromptAddition(messages, addition), shown: addition.shown };
}

/** A system message with what an artefact adds to it. */
export const systemText = (own: string, added: string, instead: boolean): string =>
  instead || own === "" ? added : `${own}\n\n${added}`;

/** The situation of a conversation: its last message that the model did not write. */
export const situationOf = (messages: readonly Message[]): string =>
  messages.findLast(({ role, content }) => (role === "user" || role === "tool") && content !== "")?.content ??
  "";

/** The share of each text's words that occur in the situation, in [0, 1]. Words of one or two letters do not count. */
export const sharedWords: Rank = (situation, texts) => {
  const said = new Set(wordsIn(situation));
  return texts.map((text) => {
    const words = new Set(wordsIn(text));
    let shared = 0;
    for (const word of words) if (said.has(word)) shared++;
    return words.size === 0 ? 0 : shared / words.size;
  });
};

/** Prompt text of a lesson. */
export const textOfEntry = ({ kind, when, text }: LibraryEntry): string => {
  const beware = kind === "warning" ? "Beware: " : "";
  return when === "" ? `${beware}${text}` : `When ${when}: ${beware}${text}`;
};

/** Prompt text of a case. */
export const textOfCase = ({ situation, plan, success }: Case): string =>
  `Situation: ${situation}\nWhat was done: ${plan}\nIt ${success ? "succeeded" : "failed"}.`;

const textOfExample = ({ messages }: Example): string =>
  messages.map(({ content, toolCalls = [] }) => `${content}${JSON.stringify(toolCalls)}`).join("\n");

/** Takes parts in order, up to the limits; one that does not fit is skipped, and later ones may still fit. */
function fitting<T>(
  parts: readonly T[],
  text: (part: T) => string,
  { characters = 8000, most = 8 }: ApplyOptions,
): readonly T[] {
  let left = characters;
  const shown: T[] = [];
  for (const part of parts) {
    const { length } = text(part);
    if (shown.length === most) break;
    if (length > left) continue;
    left -= length;
    shown.push(part);
  }
  return shown;
}

/** Number of characters, from the end of a situation, that parts are ranked by. */
const mostRanked = 20_000;

function ranked<T>(
  parts: readonly T[],
  text: (part: T) => string,
  messages: readonly Message[],
  { rank = sharedWords }: ApplyOptions,
): readonly { readonly part: T; readonly fit: number }[] {
  const fits = rank(situationOf(messages).slice(-mostRanked), parts.map(text));
  return parts.map((part, i) => ({ part, fit: fits[i] ?? 0 }));
}

function redescribed(message: Message, described: PromptAddition["tools"]): Message {
  if (!message.tools) return message;
  return {
    ...message,
    tools: message.tools.map((tool) => ({
      ...tool,
      description: Object.hasOwn(described, tool.name) ? (described[tool.name] ?? "") : tool.description,
    })),
  };
}

const idsOf = (parts: readonly { readonly id: Id }[]): readonly Id[] => parts.map(({ id }) => id);

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
