/** Scripted players of the programs environment, which know a request and its messages but not what vague phrases mean. */
import type { Message } from "../../core/types.ts";
import type { Player } from "../../env/environment.ts";
import { stepsIn } from "./language.ts";
import { type Phrase, phrasesOf, type Shows } from "./tasks.ts";

/** A meaning per phrase of a request, as its number; undefined stands for the foreign word. */
type Choice = readonly (number | undefined)[];

const middle = ({ meanings }: Phrase): number => Math.floor(meanings.length / 2);
const text = (request: readonly Phrase[], choice: Choice): string =>
  request
    .map(({ meanings, foreign }, i) => (choice[i] === undefined ? foreign! : meanings[choice[i]!]!))
    .join(" ");

/** What a message asks for: which phrases to change, and whether to a later meaning. */
const remedies: readonly (readonly [said: RegExp, shows: Shows, by: 1 | -1])[] = [
  [/too short$/, "length", 1],
  [/too long$/, "length", -1],
  [/too low$/, "value", 1],
  [/too high$/, "value", -1],
];

/** The program after a message: what it blames is changed, the rest stays as it was. */
export function repaired(request: readonly Phrase[], program: string, message: string): string {
  const before = stepsIn(program);
  const remedy = remedies.find(([said]) => said.test(message));
  const choice = request.map((phrase, i) => {
    const at = phrase.meanings.indexOf(before[i] ?? "");
    if (at < 0) return middle(phrase);
    if (!remedy || remedy[1] !== phrase.shows) return at;
    return Math.min(phrase.meanings.length - 1, Math.max(0, at + remedy[2]));
  });
  return text(request, choice);
}

/** The best first program: of three meanings the one in the middle, from which a message shows the way. */
export const firstProgram = (request: readonly Phrase[]): string => text(request, request.map(middle));

interface Said {
  readonly program: string;
  readonly message: string;
}
/** The last program and what was said of it, if there was one. */
function lastOf(conversation: readonly Message[]): Said | undefined {
  const at = conversation.findLastIndex(({ role }) => role === "assistant");
  return at < 0
    ? undefined
    : { program: conversation[at]!.content, message: conversation[at + 1]?.content ?? "" };
}

const requestOf = (conversation: readonly Message[]): readonly Phrase[] =>
  phrasesOf(conversation.find(({ role }) => role === "user")!.content);

export const expert: Player = ({ prompt }, conversation) => {
  const request = requestOf(prompt);
  const last = lastOf(conversation);
  return last ? repaired(request, last.program, last.message) : firstProgram(request);
};

/** How often the flawed player writes a foreign word, takes a vague phrase as the expert would at first, and heeds a message. */
const foreign = 0.4;
const centred = 0.9;
const heeds = 0.25;

/** Writes words of another language, and mostly sends a program again where a message asks for another. */
export const flawed: Player = ({ prompt }, conversation, random) => {
  const request = requestOf(prompt);
  const last = lastOf(conversation);
  if (last) return random.next() < heeds ? repaired(request, last.program, last.message) : last.program;
  const choice = request.map((phrase) => {
    if (phrase.foreign !== undefined) return random.next() < foreign ? undefined : 0;
    return random.next() < centred ? middle(phrase) : random.below(phrase.meanings.length);
  });
  return text(request, choice);
};

/** Does not read messages: each try is another first guess in the right language. */
export const guessing: Player = ({ prompt }, _conversation, random) =>
  text(
    requestOf(prompt),
    requestOf(prompt).map(({ meanings }) => random.below(meanings.length)),
  );
