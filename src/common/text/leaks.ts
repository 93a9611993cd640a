/** Leak check: artefact candidates must not contain held-out tasks, or evaluation would measure copying. */
import type { Artefact } from "../../core/artefact.ts";
import { isObject, type Json } from "../../core/json.ts";
import type { Id, Message, Task } from "../../core/types.ts";
import { wordsIn } from "./leaksAnswer.ts";
import { jsonOrText } from "./toolCalls.ts";

/** A held-out task that occurs in an artefact. */
export interface Leak {
  readonly task: Id;
  /** "system text", "description of search", or the id of a part. */
  readonly part: string;
  readonly what: "answer" | "prompt";
}

/** Number of consecutive words that two prompts rarely share by chance. */
const run = 8;

/**
 * Finds the answers of held-out tasks, as whole words, and runs of eight consecutive words of their prompts. Text that also
 * occurs in training tasks is no leak: "yes", the names of rooms, the wording that all tasks share. Nor is an answer that
 * occurs in its own prompt, such as one of several choices.
 * @param known the training tasks.
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

/** The words between blanks; empty for a text without words. */
function phrase(text: string): readonly string[] {
  const words = wordsIn(text);
  return words.length === 0 ? [] : [` ${words.join(" ")} `];
}

const promptOf = ({ prompt }: Task): readonly string[] => prompt.flatMap(({ content }) => wordsIn(content));

const runsIn = (words: readonly string[]): readonly string[] =>
  words.slice(run - 1).map((_, i) => words.slice(i, i + run).join(" "));

/** All texts of an artefact, with the part that each belongs to. */
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

/** The content of a message and every argument of its tool calls, since an agent may submit its answer only there. */
const textsSaid = ({ content, toolCalls = [] }: Message): readonly string[] => [
  content,
  ...toolCalls.flatMap((call) => valuesIn(jsonOrText(call.arguments))),
];

function valuesIn(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(valuesIn);
  if (isObject(value)) return Object.values(value).flatMap(valuesIn);
  return [String(value)];
}
