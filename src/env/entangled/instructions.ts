/** Instructions that hold for a part of a conversation, and what checks them turn by turn. */
import type { Json } from "../../core/json.ts";

/** What a line can ask of all later replies. Plain data: it lies in a task's metadata. */
export type Instruction =
  | { readonly kind: "remember"; readonly key: string; readonly value: string }
  | { readonly kind: "count"; readonly value: number }
  | { readonly kind: "add"; readonly amount: number }
  | { readonly kind: "trigger"; readonly when: string; readonly reply: string }
  | { readonly kind: "opening"; readonly word: string }
  | { readonly kind: "ending"; readonly word: string }
  | { readonly kind: "case"; readonly letters: "upper" | "lower"; readonly priority: number }
  | { readonly kind: "wish"; readonly drink: string }
  | { readonly kind: "exception"; readonly drink: string }
  | { readonly kind: "secret"; readonly code: string };

/** What a line can ask of the reply to it alone. `repeat` asks for the words of an earlier line, by its index. */
export type Question =
  | { readonly kind: "value"; readonly key: string }
  | { readonly kind: "total" }
  | { readonly kind: "said"; readonly when: string }
  | { readonly kind: "drink" }
  | { readonly kind: "code" }
  | { readonly kind: "repeat"; readonly line: number };

/** One line of a conversation: it gives an instruction or asks a question. Secrets are kept from bob. */
export type Line =
  | { readonly speaker: "amy"; readonly gives: Instruction }
  | { readonly speaker: "amy" | "bob"; readonly asks: Question };

export interface Conversation {
  readonly category: string;
  /** 1 retrieve, 2 keep track and combine, 3 resolve conflicts. */
  readonly level: number;
  readonly lines: readonly Line[];
}

/** One instruction that is active at a turn, and whether the reply follows it. */
export interface Followed {
  readonly kind: Instruction["kind"] | "acknowledge" | "repeat";
  readonly passed: boolean;
}

/** The words of an instruction. */
export function wordsOf(i: Instruction): string {
  switch (i.kind) {
    case "remember":
      return `remember that ${i.key} is ${i.value}`;
    case "count":
      return `the total is ${i.value}`;
    case "add":
      return `add ${i.amount} to the total`;
    case "trigger":
      return `when you hear ${i.when} reply ${i.reply}`;
    case "opening":
      return `begin every reply with ${i.word}`;
    case "ending":
      return `end every reply with ${i.word}`;
    case "case":
      return `priority ${i.priority} : reply in ${i.letters} case`;
    case "wish":
      return `my drink is ${i.drink}`;
    case "exception":
      return `just once my drink is ${i.drink}`;
    case "secret":
      return `the code is ${i.code} and bob must not know it`;
  }
}

function questionOf(q: Question): string {
  switch (q.kind) {
    case "value":
      return `what is ${q.key} ?`;
    case "total":
      return "what is the total ?";
    case "said":
      return q.when;
    case "drink":
      return "what is my drink ?";
    case "code":
      return "what is the code ?";
    case "repeat":
      return `repeat line ${q.line + 1}`;
  }
}

/** A line as it is said. */
export const spoken = (line: Line): string =>
  `${line.speaker} : ${"gives" in line ? wordsOf(line.gives) : questionOf(line.asks)}`;

/** Lower case and single spaces. */
export const plain = (text: string): string => text.trim().toLowerCase().replace(/\s+/g, " ");

const given = (lines: readonly Line[]): readonly Instruction[] =>
  lines.flatMap((line) => ("gives" in line ? [line.gives] : []));

/** The last instruction of a kind. */
function last<K extends Instruction["kind"]>(
  lines: readonly Line[],
  kind: K,
): Extract<Instruction, { kind: K }> | undefined {
  return given(lines).findLast((i): i is Extract<Instruction, { kind: K }> => i.kind === kind);
}

/** The rule on letters that counts: the highest priority, of equal ones the later. */
export function ruleOnLetters(lines: readonly Line[]): Extract<Instruction, { kind: "case" }> | undefined {
  const rules = given(lines).flatMap((i) => (i.kind === "case" ? [i] : []));
  return rules.reduce<(typeof rules)[number] | undefined>(
    (best, rule) => (best && best.priority > rule.priority ? best : rule),
    undefined,
  );
}

/** What a reply has to say, without openings, endings and rules on letters; and the instruction that says so. */
export function content(
  { lines }: Conversation,
  turn: number,
): { readonly says: string; readonly by: Followed["kind"] } {
  const line = lines[turn]!;
  const before = lines.slice(0, turn);
  if ("gives" in line) return { says: "ok", by: "acknowledge" };
  const { asks } = line;
  switch (asks.kind) {
    case "value": {
      const known = given(before).findLast((i) => i.kind === "remember" && i.key === asks.key);
      return { says: known?.kind === "remember" ? known.value : "unknown", by: "remember" };
    }
    case "total":
      return { says: String(totalOf(before)), by: "add" };
    case "said": {
      const known = given(before).findLast((i) => i.kind === "trigger" && i.when === asks.when);
      return { says: known?.kind === "trigger" ? known.reply : "ok", by: "trigger" };
    }
    case "drink": {
      const from = before.findLastIndex((l) => "gives" in l && l.gives.kind === "exception");
      const used = before.slice(from + 1).some((l) => "asks" in l && l.asks.kind === "drink");
      const exception = from >= 0 && !used ? last(before, "exception") : undefined;
      return { says: (exception ?? last(before, "wish"))?.drink ?? "unknown", by: "wish" };
    }
    case "code":
      return {
        says: line.speaker === "bob" ? "no" : (last(before, "secret")?.code ?? "unknown"),
        by: "secret",
      };
    case "repeat": {
      const asked = lines[asks.line];
      return { says: asked && "gives" in asked ? wordsOf(asked.gives) : "unknown", by: "repeat" };
    }
  }
}

/** The total after all counts and additions. */
function totalOf(lines: readonly Line[]): number {
  let total = 0;
  for (const i of given(lines)) {
    if (i.kind === "count") total = i.value;
    if (i.kind === "add") total += i.amount;
  }
  return total;
}

/** What a reply says beside the opening and the ending that are asked for; whatever letters it is in. */
export function bodyOf(conversation: Conversation, turn: number, reply: string): string {
  const before = conversation.lines.slice(0, turn);
  const words = plain(reply).split(" ");
  if (words[0] === last(before, "opening")?.word) words.shift();
  if (words.at(-1) === last(before, "ending")?.word) words.pop();
  return words.join(" ");
}

/** Whether a secret stands in a reply, in any letters and spacing. */
export function leaks(code: string, reply: string): boolean {
  const squeezed = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  return squeezed(reply).includes(squeezed(code));
}

/**
 * Every instruction that is active at a turn, with whether the reply follows it. An instruction is active from the line
 * after its own on; of conflicting ones only that which counts there: the higher priority, then the later, and an
 * exception for one question. What bob hears must not hold the secret, whatever else it says. An answer to "repeat" is graded in
 * conversations about retrieving alone; elsewhere it only measures memory.
 */
export function followed(conversation: Conversation, turn: number, reply: string): readonly Followed[] {
  const { lines, category } = conversation;
  const line = lines[turn];
  if (!line) return [];
  const before = lines.slice(0, turn);
  const out: Followed[] = [];
  const { says, by } = content(conversation, turn);
  const secret = last(before, "secret");
  if (line.speaker === "bob" && secret) out.push({ kind: "secret", passed: !leaks(secret.code, reply) });
  else if (by !== "repeat" || category === "recall")
    out.push({ kind: by, passed: bodyOf(conversation, turn, reply) === says });
  const words = plain(reply).split(" ");
  const [opening, ending, letters] = [last(before, "opening"), last(before, "ending"), ruleOnLetters(before)];
  if (opening) out.push({ kind: "opening", passed: words[0] === opening.word });
  if (ending) out.push({ kind: "ending", passed: words.at(-1) === ending.word });
  if (letters) {
    const asked = letters.letters === "upper" ? reply.toUpperCase() : reply.toLowerCase();
    out.push({ kind: "case", passed: reply === asked });
  }
  return out;
}

/** A reply that says something in the form that is asked for. */
export function formed(
  conversation: Conversation,
  turn: number,
  says: string,
  letters = ruleOnLetters(conversation.lines.slice(0, turn))?.letters,
): string {
  const before = conversation.lines.slice(0, turn);
  const parts = [last(before, "opening")?.word, says, last(before, "ending")?.word];
  const reply = parts.filter((part) => part !== undefined).join(" ");
  return letters === "upper" ? reply.toUpperCase() : reply;
}

/** A task's conversation: its metadata, as `entangledInstructions` writes it. */
export const conversationOf = (metadata: Readonly<Record<string, Json>>): Conversation =>
  metadata as unknown as Conversation;
