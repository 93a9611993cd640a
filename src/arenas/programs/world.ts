/** The programs environment: a request in words, three tries at a program, and a message on each that says what is wrong. */

import { randomStream } from "../../core/random.ts";
import { succeeded, type Task, type Trajectory } from "../../core/types.ts";
import { critiqueWords, type Part, type Review, templated } from "../../env/critiques.ts";
import type { Environment } from "../../env/environment.ts";
import { type Tried, tried } from "../../env/tries.ts";
import { languageWords, largestNumber, messageWords, stepsIn, verdict, writtenNumbers } from "./language.ts";
import { expert, firstProgram, flawed, repaired } from "./players.ts";
import { draw, joint, type Made, phrases, phrasesOf, shownTests, sizes } from "./tasks.ts";

const turns = 3;
/** Most steps of a request. */
const steps = 4;

const requestOf = ({ prompt }: Task): string => prompt[0]!.content;
const inputsOf = (task: Task): readonly (readonly number[])[] => task.metadata.inputs as number[][];
const graded = (task: Task, program: string) =>
  verdict(program, task.reference ?? "", inputsOf(task), shownTests);

function grade(task: Task, program: string): Tried {
  const { passed, message } = graded(task, program);
  return { rewards: { outcome: message === "right" ? 1 : 0, passed }, text: message };
}

/** What the expert writes before each try, given what was tried; the first `turns` of them. */
function expertTries({ request, program, inputs }: Made, tries = turns): readonly string[] {
  const made = [firstProgram(phrasesOf(request))];
  while (made.length < tries) {
    const last = made.at(-1)!;
    made.push(repaired(phrasesOf(request), last, verdict(last, program, inputs, shownTests).message));
  }
  return made;
}

const solvable = (made: Made): boolean =>
  expertTries(made).some(
    (program) => verdict(program, made.program, made.inputs, shownTests).message === "right",
  );

let splits: ReadonlyMap<string, readonly Task[]> | undefined;
const tasksOf = (split: string): readonly Task[] => {
  splits ??= new Map(
    [...draw(solvable)].map(([name, all]) => [
      name,
      all.map(
        ({ request, program, inputs }, i): Task => ({
          id: `programs/${name}/${i}`,
          prompt: [{ role: "user", content: request }],
          reference: program,
          metadata: { inputs: inputs.map((list) => [...list]) },
          seed: randomStream("programs").split(name, i).seed,
        }),
      ),
    ]),
  );
  return splits.get(split) ?? [];
};

/** Steps of one try. A step is good where the right program, or the expert after the same message, has it too. */
function partsOf(task: Task, turn: number, content: string, before: string | undefined): readonly Part[] {
  const request = phrasesOf(requestOf(task));
  const wanted = stepsIn(task.reference ?? "");
  const next =
    before === undefined ? firstProgram(request) : repaired(request, before, graded(task, before).message);
  const expected = stepsIn(next);
  const said = stepsIn(content);
  let at = 0;
  return Array.from({ length: Math.max(wanted.length, said.length) }, (_, i): Part => {
    const step = said[i] ?? "";
    // a long program's words may be spread over lines
    const from = step === "" ? content.length : Math.max(at, content.indexOf(step.split(" ")[0]!, at));
    const to = step === "" ? from : Math.min(content.length, from + step.length);
    at = to;
    const better = wanted[i] ?? "no step";
    return {
      turn,
      from,
      to,
      good: step !== "" && (step === wanted[i] || step === expected[i]),
      name: `try ${turn + 1} step ${Math.min(i + 1, steps + 1)}`,
      better,
      worse: [...(request[i]?.meanings ?? []), "up", "down", "flip"].filter(
        (other) => other !== better && other !== step,
      ),
    };
  });
}

/** All tries' steps, so that an attempt is blamed where it first left what was known. */
function review(task: Task, trajectory: Trajectory): Review {
  const programs = trajectory.turns.slice(0, turns).map(({ action }) => action.content);
  const parts = programs.flatMap((program, k) => partsOf(task, k, program, programs[k - 1]?.trim()));
  const short = parts.every(({ good }) => good) ? "success" : "inefficient";
  return { outcome: succeeded(trajectory) ? short : "failure", parts };
}

const critiques = (): readonly string[] => [...critiqueWords(steps + 1), "try 1 2 3 no step"];

/**
 * The request's phrases stand for steps of a program, in their order; the meaning of a vague phrase is drawn per task and
 * shows in tests only. Each turn is a program. The first one that passes three shown and five hidden tests ends the episode; on
 * others the message names an unknown word, or the first failed test with the result, the one wanted and how they differ.
 * `outcome` is 1 or 0 at the end; `verify` also gives the share of tests that the last program passed.
 */
export function listPrograms(): Environment {
  const passedBy = async (task: Task, { turns: made }: Trajectory): Promise<number> =>
    graded(task, made.at(-1)?.action.content.trim() ?? "").passed;
  return {
    ...tried({
      name: "programs",
      summary: "write programs of a few steps for requests that tests make clear, three tries with messages",
      splits: Object.keys(sizes),
      turns,
      actionTokens: 8,
      vocabulary: () => [
        ...languageWords,
        ...Array.from({ length: largestNumber + 1 }, (_, n) => String(n)),
        ...phrases.keys(),
        ...[...phrases.values()].flatMap(({ foreign }) => foreign ?? []),
        joint,
        ...writtenNumbers,
        ...messageWords,
        ...critiques(),
      ],
      tasks: tasksOf,
      grade,
      flawed,
    }),
    expert,
    critiqueVocabulary: critiques,
    critique: async (task, trajectory, request) => templated(review(task, trajectory), request),
    // by the tests that the last programs passed
    prefer: async (task, first, second) =>
      (1 + (await passedBy(task, first)) - (await passedBy(task, second))) / 2,
  };
}

/** Demonstrations of each training task, so that the start does not learn single ones by heart. */
const demonstrations = 6;

/** The same world with several demonstrations of every training task, for the warm start. */
export function demonstrated(): Environment {
  const world = listPrograms();
  const again = (task: Task): readonly Task[] =>
    Array.from({ length: demonstrations }, (_, k) => ({ ...task, id: `${task.id}/${k}` }));
  return {
    ...world,
    tasks: (split) => (split === "train" ? world.tasks(split).flatMap(again) : world.tasks(split)),
  };
}
