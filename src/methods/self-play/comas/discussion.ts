import type { Ctx } from "../../../core/context.ts";
import { evaluatorIn } from "../../../core/evaluator.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { ModelId, Trajectory, Unit } from "../../../core/types.ts";
import { selfCritique } from "../../../evaluator/selfCritique.ts";

/** A participant: what it is told that it is, and the model that acts. Several may share a model. */
export interface Participant {
  readonly name: string;
  readonly model: ModelId;
}

/** What participants are asked, after their name. */
export const evaluationQuestion = "Say what is wrong with this solution .";
export const scoreQuestion = "Grade the solution 1 2 or 3 .";

/** Grade of a solution after an evaluation, from the texts of all three: 1 wrong, 2 partly right, 3 right; undefined where it is none. */
export type ReadGrade = (said: {
  readonly solution: string;
  readonly evaluation: string;
  readonly score: string;
}) => number | undefined;

/** The only digit from 1 to 3 in the score's text; undefined without one, or with several different ones. */
export const gradeIn: ReadGrade = ({ score }) => {
  const found = new Set(score.match(/\b[123]\b/g));
  return found.size === 1 ? Number([...found][0]) : undefined;
};

/** Settings of {@link discussion}. */
export interface DiscussionOptions {
  readonly participants: readonly Participant[];
  /** Solutions of each task. Default 8. */
  readonly groupSize?: number;
  /** Evaluations of each solution. Default 1. */
  readonly evaluations?: number;
  /** Default {@link gradeIn}. */
  readonly read?: ReadGrade;
  /** Longest evaluation and score, in tokens. Default 64. */
  readonly maxTokens?: number;
  /** Default 1. */
  readonly temperature?: number;
}

/**
 * Solutions, evaluations of them and scores of both, each by a participant of its own where there are three; who is who is drawn for each
 * task, so that its solutions have one author. Nobody else rewards anything, and the environment's own reward is not read:
 *
 *     g' = (g − 1)/2, g the grade that the scorer gives the solution after it read the evaluation
 *     R(solution) = mean of g' over its scored evaluations,   R(evaluation) = 1 − g',   R(score) = 0
 *     no grade: R(score) = −1, and the evaluation has no reward; a solution without any grade has none either
 *
 * Rewards are called `discussion`. A text is one unit, in the group of its role and author: solutions are compared with the other solutions of
 * their author, and an evaluator is not paid less because solvers are. Failed episodes take no part.
 *
 * Stats: graded, share of scores that parse; grade, their mean.
 * Paper: "CoMAS: Co-Evolving Multi-Agent Systems via Interaction Rewards".
 */
export function discussion(options: DiscussionOptions): Rollout {
  const { participants, groupSize = 8, temperature = 1 } = options;
  return async (ctx) => {
    const rounds = ctx.tasks.flatMap(({ id: task }) =>
      Array.from({ length: groupSize }, async (_, attempt) => {
        const first = ctx.random.split("author", task).below(participants.length);
        const at = (place: number): Participant => participants[(first + place) % participants.length]!;
        const solver = at(0);
        const played = await ctx.play({
          task,
          attempt,
          advice: solver.name,
          temperature,
          models: Object.fromEntries(ctx.roles.map((role) => [role, solver.model])),
        });
        return Promise.all(
          played
            .filter((t) => t.end.kind !== "failed" && t.turns.length > 0)
            .map((solution) => discussed(ctx, solution, at, options)),
        );
      }),
    );
    const all = (await Promise.all(rounds)).flat(2);
    const grades = all.flatMap((one) => one.grades);
    const scores = all.flatMap(({ said }) => said.filter(({ role }) => role === "score")).length;
    return {
      trajectories: all.flatMap(({ said }) => said.map(({ text }) => text)),
      units: all.flatMap(({ said }) =>
        said.map(({ text: { id }, role, by }): Unit => ({ id, group: `${role}/${by}`, members: [id] })),
      ),
      stats: {
        ...(scores > 0 && { graded: grades.length / scores }),
        ...(grades.length > 0 && { grade: meanOf(grades) }),
      },
    };
  };
}

interface Said {
  readonly text: Trajectory;
  readonly role: "solution" | "evaluation" | "score";
  readonly by: string;
}

/** A solution with what is said of it, and the grades that it was given. */
async function discussed(
  ctx: Ctx,
  solution: Trajectory,
  at: (place: number) => Participant,
  options: DiscussionOptions,
): Promise<{ readonly said: readonly Said[]; readonly grades: readonly number[] }> {
  const { evaluations = 1, read = gradeIn } = options;
  const about = textOf(solution);
  const said: Said[] = [];
  const grades: number[] = [];
  for (let j = 0; j < evaluations; j++) {
    const [evaluator, scorer] = [at(1 + j), at(2 + j)];
    const evaluation = await written(ctx, solution, `evaluation ${j}`, {
      ...{ by: evaluator, question: evaluationQuestion, options },
    });
    if (!evaluation) continue;
    const told = `${textOf(evaluation)}\n${scoreQuestion}`;
    const score = await written(ctx, solution, `score ${j}`, { by: scorer, question: told, options });
    if (!score) continue;
    const grade = read({ solution: about, evaluation: textOf(evaluation), score: textOf(score) });
    const share = grade === undefined ? undefined : (grade - 1) / 2;
    if (grade !== undefined) grades.push(grade);
    const evaluated = share === undefined ? evaluation : paidFor(evaluation, 1 - share);
    said.push(
      { text: evaluated, role: "evaluation", by: evaluator.name },
      { text: paidFor(score, share === undefined ? -1 : 0), role: "score", by: scorer.name },
    );
  }
  const text = grades.length > 0 ? paidFor(solution, (meanOf(grades) - 1) / 2) : solution;
  return { said: [{ text, role: "solution", by: at(0).name }, ...said], grades };
}

/** What a participant says of a solution. */
async function written(
  ctx: Ctx,
  solution: Trajectory,
  name: string,
  {
    by,
    question,
    options: { maxTokens = 64, temperature = 1 },
  }: { readonly by: Participant; readonly question: string; readonly options: DiscussionOptions },
): Promise<Trajectory | undefined> {
  const writer = selfCritique({
    ...{ model: by.model, question: `${by.name}\n${question}`, maxTokens, temperature },
    read: (text) => ({ text }),
  });
  const random = ctx.random.split(name, solution.id);
  const critique = await evaluatorIn(ctx, writer).critique(solution, random);
  return critique?.written && { ...critique.written, id: `${solution.id}/${name}` };
}

const textOf = ({ turns }: Trajectory): string => turns.at(-1)!.action.content.trim();
const meanOf = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;

/** A text with the discussion's reward in its last turn. */
const paidFor = (t: Trajectory, reward: number): Trajectory => ({
  ...t,
  turns: t.turns.map((turn, k) =>
    k === t.turns.length - 1 ? { ...turn, rewards: { ...turn.rewards, discussion: reward } } : turn,
  ),
});
