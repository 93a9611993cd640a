/** Questions answered step by step, and sources that teach the steps, of which one is right. */
import { randomStream, shuffled } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

/** Steps that there are, different ones that a hard question asks for, and words to answer a step with. */
const [steps, asked, words] = [8, 5, 6];
/** Sources of problems, of which the first is right; most steps of a problem; problems that a template stands for. */
const [sources, most, each] = [4, 3, 12];
/** Hard questions of training, and as many others that are held out. */
const hard = 16;

/** The word that a source gives for a step. Source 0 is right everywhere, the last one on every other step, and all else is wrong in its own way. */
export function wordOf(seed: number, source: number, step: number): string {
  const errs = source === sources - 1 && step % 2 === 1 ? 0 : source;
  return `w${(randomStream(seed).split("right", step).below(words) + errs) % words}`;
}

const replyOf = (seed: number, source: number, of: readonly number[]): string =>
  of.map((step) => wordOf(seed, source, step)).join(" ");
const questionOf = (of: readonly number[]): string => of.map((step) => `s${step}`).join(" ");

/**
 * A question lists steps, "s3 s7 s1"; the reply names a word for each, and only a whole right reply pays 1. A step's word is the same in
 * all questions. Questions of training and test ask for five different steps of eight: who knows nothing answers one of 7,776. Other tasks
 * can be made; any task is graded by its reference, right or not.
 */
export function questions(seed: number): Environment {
  const known = new Set<string>();
  const tasksOf = (split: string): Task[] => {
    const tasks: Task[] = [];
    for (let i = 0; tasks.length < hard; i++) {
      const random = randomStream(seed).split("questions", split, i);
      const own = shuffled([...Array(steps).keys()], random).slice(0, asked);
      const content = questionOf(own);
      if (known.has(content)) continue;
      known.add(content);
      tasks.push({
        id: `questions/${split}/${tasks.length}`,
        prompt: [{ role: "user", content }],
        reference: replyOf(seed, 0, own),
        metadata: {},
        seed: random.seed,
      });
    }
    return tasks;
  };
  const all = new Map(["train", "test"].map((split) => [split, tasksOf(split)]));
  const outcomeOf = ({ reference }: Task, reply: string): number => Number(reply.trim() === reference);
  return defineEnvironment({
    name: "questions",
    summary: "answer every step of a question; all questions share their steps",
    abilities: new Set(["replay", "expert"] as const),
    roles: ["agent"],
    splits: [...all.keys()],
    limits: { turns: 1, actionTokens: asked },
    vocabulary: () => [
      ...Array.from({ length: words }, (_, k) => `w${k}`),
      ...Array.from({ length: steps }, (_, k) => `s${k}`),
    ],
    tasks: (split) => all.get(split) ?? [],
    expert: (task) => task.reference!,
    start: async (task, random) =>
      machine<null>(
        {
          see: () => ({ messages: [], maxTokens: task.prompt.at(-1)!.content.split(" ").length }),
          act: (_, action) => {
            const outcome = outcomeOf(task, action);
            const success = outcome === 1;
            const end = { kind: "done", reason: success ? "right" : "wrong", success } as const;
            return { next: null, rewards: { outcome }, end };
          },
        },
        null,
        random,
      ),
    verify: async (task, { turns }) => ({ outcome: outcomeOf(task, turns.at(-1)?.action.content ?? "") }),
  });
}

/** Words of templates, of which a teacher writes two: a source and a number of steps. "hm" is no template. */
export const templateWords: readonly string[] = [
  ...Array.from({ length: sources }, (_, k) => `source-${k}`),
  ...Array.from({ length: most }, (_, k) => `steps-${k + 1}`),
  "hm",
];

/** The problems that a template such as "source-2 steps-3" stands for: questions of so many steps with the source's answers. */
export function fromTemplate(seed: number, text: string, id: string): Task[] {
  const read = /^source-(\d+) steps-(\d+)$/.exec(text);
  if (!read) return [];
  const [source, count] = [Number(read[1]), Number(read[2])];
  return Array.from({ length: each }, (_, i) => {
    const random = randomStream(seed).split(id, i);
    const own = shuffled([...Array(steps).keys()], random).slice(0, count);
    return {
      id: `${id}/${i}`,
      prompt: [{ role: "user", content: questionOf(own) }],
      reference: replyOf(seed, source, own),
      metadata: { proposed: true, source, steps: count },
      seed: random.seed,
    };
  });
}

/** The step that the next word answers, or the place in a template: the feature of the tabular policy. */
export function placeIn(context: readonly string[]): readonly string[] {
  const begun = context.lastIndexOf("<assistant>");
  const said = context.length - 1 - begun;
  const of = context.slice(0, begun).filter((word) => /^s\d+$/.test(word));
  return [of.length > 0 ? `step ${of[said] ?? "none"}` : `template ${said}`];
}

/** Knows no step; as a teacher, says any source and any number of steps, or something that is no template. */
export function knowsNothing(context: readonly string[], word: string): number {
  const place = placeIn(context)[0]!;
  if (place === "template 0") return /^(source-|hm$)/.test(word) ? 0 : -1e9;
  if (place === "template 1") return word.startsWith("steps-") ? 0 : -1e9;
  return place.startsWith("step ") && /^w\d+$/.test(word) ? 0 : -1e9;
}
