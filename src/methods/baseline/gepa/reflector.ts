/** Reflectors rewrite an instruction from the attempts made under it: by quoting feedback, or with a language model. */
import { abridged } from "../../../common/text/abridged.ts";
import { type Hint, sayHint } from "../../../common/text/hints.ts";
import { type Chat, unlessFailed } from "../../../core/chat.ts";
import type { Random } from "../../../core/random.ts";
import type { Id } from "../../../core/types.ts";

/** An attempt as a reflector reads it. */
export interface Told {
  readonly trajectory: Id;
  /** The conversation, without the instructions that all attempts share. */
  readonly transcript: string;
  /** Feedback of the environment or a critic; undefined without any. */
  readonly feedback: string | undefined;
  readonly reward: number;
}

export interface ReflectionWish {
  /** "system text", or the description of a tool. */
  readonly component: string;
  readonly text: string;
  readonly attempts: readonly Told[];
  /** Production feedback from people. */
  readonly hints: readonly Hint[];
  /** Most characters of the new text; longer texts are refused. */
  readonly characters: number;
  readonly random: Random;
}

/** Returns a new version of the text; undefined for no proposal. */
export type Reflector = (wish: ReflectionWish) => Promise<string | undefined>;

/** Settings of {@link quoting}. */
export interface QuotingOptions {
  /** Most lines of a text; the oldest are removed first. Default 32. */
  readonly lines?: number;
}

/**
 * A reflector without a model: appends the feedback on attempts below the best reward, and on replies in production, to
 * the text verbatim, one line each. Useful where feedback generalises to other tasks.
 */
export function quoting({ lines: most = 32 }: QuotingOptions = {}): Reflector {
  return async ({ text, attempts, hints, characters }) => {
    const best = Math.max(...attempts.map(({ reward }) => reward));
    const blamed = attempts.filter(({ reward }) => reward < best || best <= 0);
    const said = [...blamed.flatMap(({ feedback }) => feedback ?? []), ...hints.map((hint) => hint.said)];
    const known = text === "" ? [] : text.split("\n");
    const all = [...new Set([...known, ...said.flatMap((one) => one.split("\n"))])].filter(
      (one) => one !== "",
    );
    let kept = all.slice(-most);
    // the other texts may already exceed the limit
    while (kept.length > 0 && kept.join("\n").length > characters) kept = kept.slice(1);
    const next = kept.join("\n");
    return next === text ? undefined : next;
  };
}

/**
 * A language model reads attempts with their feedback and rewrites the text. A reply without a fenced text is requested
 * once more; after that, or if the provider fails, there is no proposal. A spent budget stops the run.
 */
export function chatReflector(chat: Chat): Reflector {
  return async (wish) => {
    const { seed } = wish.random.split("reflection");
    const asked = { role: "user", content: question(wish) } as const;
    const said = await chat.reply({ messages: [asked], seed }).catch(unlessFailed);
    if (!said) return undefined;
    const once = fenced(said.message.content);
    if (once !== undefined) return once;
    const again = {
      role: "user",
      content: "Write the whole new text within a fence of three backticks.",
    } as const;
    const messages = [asked, said.message, again];
    const repaired = await chat.reply({ messages, seed }).catch(unlessFailed);
    return repaired && fenced(repaired.message.content);
  };
}

const fenced = (reply: string): string | undefined => {
  const text = /```[a-z]*\n?([\s\S]*)```/.exec(reply)?.[1]?.trim();
  return text === "" ? undefined : text;
};

/** Most characters of an attempt, of its feedback, and of a production reply, so that the question fits the context. */
const [mostPlayed, mostSaid] = [12_000, 4000];

function question({ component, text, attempts, hints, characters }: ReflectionWish): string {
  const shown = attempts.map(
    (one, i) =>
      `Attempt ${i + 1}, which earned ${one.reward.toFixed(2)}:\n${abridged(one.transcript, mostPlayed)}\nWhat was said of it: ${abridged(one.feedback ?? "nothing", mostSaid)}`,
  );
  return [
    `Improve what an agent is told: its ${component}. Now it reads:\n\`\`\`\n${text}\n\`\`\``,
    ...shown,
    ...(hints.length > 0
      ? ["What people said of replies in use:", ...hints.map((hint) => abridged(sayHint(hint), mostSaid))]
      : []),
    "Work out what the task is, what went wrong and why, and which facts and ways of working would have helped. Write them down for any task of this kind: keep what serves, name what is particular to the field, and do not give away the answer to a single task.",
    `Write the whole new text, ${characters} characters at most, within a fence of three backticks.`,
  ].join("\n\n");
}
