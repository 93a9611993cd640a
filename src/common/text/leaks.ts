/** Candidates that give away tasks which are held out: what is measured with them would be what was copied. */
import type { Artefact } from "../../core/artefact.ts";
import { isObject, type Json } from "../../core/json.ts";
import type { Id, Message, Task } from "../../core/types.ts";
import { wordsIn } from "./leaksAnswer.ts";
import { jsonOrText } from "./toolCalls.ts";

/** Where a held-out task stands in an artefact. */
export interface Leak {
  readonly task: Id;
  /** "system text", "description of search", or the id of a part. */
  readonly part: string;
  readonly what: "answer" | "prompt";
}

/** Words in a row that two prompts hardly share by chance. */
const run = 8;

/**
 * Finds the answers of held-out tasks, as words of their own, and eight words in a row of their prompts. What the tasks that
 * are practised say or answer as well gives nothing away: "yes", the names of rooms, the wording that all tasks share. An
 * answer that stands in its own prompt, as one of several choices does, is no secret either.
 * @param known tasks that are practised.
 */
export function leakCheck(
  heldOut: readonly Task[],
  known: readonly Task[],
): (artefact: Artefact) => readonly Leak[] {
  const answersKnown = new Set(known.flatMap(({ reference }) => phrase(reference ?? "")));
  const saidKnown = known.map(promptOf).map((words) => ` ${words.join(" ")} `);
  const runsKnown = new Set(known.flatMap((task) => runsIn(promptOf(task))));
  const secrets = heldOut.map((task) => {
    const words = promptOf(task);
    const said = ` ${words.join(" ")} `;
    const [answer] = phrase(task.reference ?? "");
    const isSecret =
      answer !== undefined &&
      !answersKnown.has(answer) &&
      !said.includes(answer) &&
      !saidKnown.some((text) => text.includes(answer));
    return {
      task: task.id,
      answer: isSecret ? answer : undefined,
      runs: runsIn(words).filter((one) => !runsKnown.has(one)),
    };
  });
  return (artefact) =>
    textsOf(artefact).flatMap(([part, text]) => {
      const words = wordsIn(text);
      const whole = ` ${words.join(" ")} `;
      const runs = new Set(runsIn(words));
      return secrets.flatMap(({ task, answer, runs: secret }): Leak[] => {
        if (answer !== undefined && whole.includes(answer)) return [{ task, part, what: "answer" }];
        return secret.some((one) => runs.has(one)) ? [{ task, part, what: "prompt" }] : [];
      });
    });
}

/** Words between blanks; none of a text without words. */
function phrase(text: string): readonly string[] {
  const words = wordsIn(text);
  return words.length === 0 ? [] : [` ${words.join(" ")} `];
}

const promptOf = ({ prompt }: Task): readonly string[] => prompt.flatMap(({ content }) => wordsIn(content));

const runsIn = (words: readonly string[]): readonly string[] =>
  words.slice(run - 1).map((_, i) => words.slice(i, i + run).join(" "));

/** Everything that an artefact says, by the part that says it. */
function textsOf(artefact: Artefact): readonly (readonly [part: string, text: string])[] {
  switch (artefact.kind) {
    case "instructions":
      return [
        ["system text", artefact.system],
        ...Object.entries(artefact.tools).map(([name, text]) => [`description of ${name}`, text] as const),
        ...artefact.examples.map(({ id, messages }) => [id, messages.flatMap(textsSaid).join("\n")] as const),
      ];
    case "experience":
      return artefact.entries.map(({ id, when, text }) => [id, `${when}\n${text}`] as const);
    case "cases":
      return artefact.cases.map(({ id, situation, plan }) => [id, `${situation}\n${plan}`] as const);
    case "guide":
      return [["frame", artefact.frame]];
    case "rubrics":
      return artefact.rubrics.map(({ id, text }) => [id, text] as const);
    case "tree":
      return [["tree", artefact.tree]];
  }
}

/** What a message says, and every value that it hands to a tool: an agent that submits its answer says it there alone. */
const textsSaid = ({ content, toolCalls = [] }: Message): readonly string[] => [
  content,
  ...toolCalls.flatMap((call) => valuesIn(jsonOrText(call.arguments))),
];

function valuesIn(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(valuesIn);
  if (isObject(value)) return Object.values(value).flatMap(valuesIn);
  return [String(value)];
}
