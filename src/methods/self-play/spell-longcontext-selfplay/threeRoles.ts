import { sampledTurn } from "../../../common/tokens/turns.ts";
import type { Ctx } from "../../../core/context.ts";
import { randomStream } from "../../../core/random.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Message, Task, Trajectory, Unit } from "../../../core/types.ts";
import { borderline, covers, majority, type QuestionReward } from "./rewards.ts";

/** What the policy is asked as questioner, after the documents, and as verifier, after question, reference and answer. */
export const questionerQuestion = "Write a question about these documents , then | , then its answer .";
export const harderThan = "It should be harder than :";
export const verifierQuestion = "Does the answer say the same as the reference ? YES or NO";

/** A question with its reference answer; undefined for a text that is none. */
export type ReadQuestion = (
  text: string,
) => { readonly question: string; readonly reference: string } | undefined;

/** Question and answer on either side of a bar. */
export const aroundBar: ReadQuestion = (text) => {
  const [question = "", reference = "", ...more] = text.split("|").map((part) => part.trim());
  return question === "" || reference === "" || more.length > 0 ? undefined : { question, reference };
};

/** Settings of {@link threeRoles}. */
export interface ThreeRolesOptions {
  /** G, answers to a question, and verdicts on an answer. Default 8. */
  readonly groupSize?: number;
  /** Default 1. */
  readonly temperature?: number;
  /** Default {@link aroundBar}. */
  readonly read?: ReadQuestion;
  /** Default {@link borderline}. */
  readonly rewardOf?: QuestionReward;
  /** Attempts at a question without documents: where one is right, the question needs none. Default 1. */
  readonly probes?: number;
  /** Solvable questions that are remembered for each set of documents. Default 3. */
  readonly remembered?: number;
  /** Longest question and verdict, in tokens. Default 64. */
  readonly maxTokens?: number;
}

/**
 * One policy in three roles. A task is a set of documents: its prompt. The questioner reads it, with its latest solvable questions, and writes
 * a harder one with a reference; the responder answers it G times, as episodes of the environment with the question as a further message; the
 * verifier compares each answer with the reference G times.
 *
 *     v*_i = majority of the verdicts v_ij on answer i          m_i = 1 where the answer covers the reference
 *     responder   r_i = max(m_i, v*_i)
 *     verifier    r_ij = 1 where v_ij = v*_i, else 0
 *     questioner  r = rewardOf(mean of r_i);  −½ where the question is solved without documents;  −1 where it cannot be parsed
 *
 * Rewards are called `role`; the environment's own are not read. Groups: the answers to a question, where some but not all are right; the verdicts on one answer of a question,
 * drawn among those on which verdicts differ, so that the roles' shares of the batch are alike; all questions of an iteration.
 * Solvable questions are remembered, the latest ones for each set of documents.
 *
 * Stats: solved, mean of r_i; asked, share of questions that can be parsed; solvable, of those, with 0 < mean r_i < 1.
 * Paper: "SPELL: Self-Play Reinforcement Learning for evolving Long-Context Language Models".
 */
export function threeRoles(options: ThreeRolesOptions = {}): Rollout {
  return async (ctx) => {
    const rounds = await Promise.all(ctx.tasks.map((task) => round(ctx, task, options)));
    for (const { task, solvable } of rounds) if (solvable) remember(ctx, task, solvable, options);
    const shares = rounds.flatMap(({ share }) => (share === undefined ? [] : [share]));
    const questions = rounds.map(
      ({ question }): Unit => ({ id: question.id, group: "questions", members: [question.id] }),
    );
    return {
      trajectories: rounds.flatMap(({ question, texts }) => [question, ...texts]),
      units: [...questions, ...rounds.flatMap(({ units }) => units)],
      stats: {
        asked: shares.length / Math.max(1, rounds.length),
        ...(shares.length > 0 && {
          solved: shares.reduce((a, b) => a + b, 0) / shares.length,
          solvable: shares.filter((share) => share > 0 && share < 1).length / shares.length,
        }),
      },
    };
  };
}

interface Round {
  readonly task: Task;
  readonly question: Trajectory;
  /** Answers and verdicts. */
  readonly texts: readonly Trajectory[];
  readonly units: readonly Unit[];
  /** Share of right answers; undefined for a question that cannot be parsed. */
  readonly share?: number;
  /** The question's text, where some answer was right and documents were needed. */
  readonly solvable?: string;
}

/** A question about a task's documents, with all that follows from it. */
async function round(ctx: Ctx, task: Task, options: ThreeRolesOptions): Promise<Round> {
  const { groupSize = 8, read = aroundBar, rewardOf = borderline, probes = 1, temperature = 1 } = options;
  const known = recalled(ctx, task);
  const harder = known.length > 0 ? [`${harderThan} ${known.join(" , ")}`] : [];
  const prompt = [...task.prompt, ...[...harder, questionerQuestion].map(asUser)];
  const asked = await said(ctx, { task, prompt, id: `${task.id}/question`, role: "questioner", options });
  const found = read(asked.turns[0]!.action.content);
  if (!found) return { task, question: paidFor(asked, -1), texts: [], units: [] };
  const made = posed(task, task.prompt, found, `${task.id}/${ctx.clock.iteration}`);
  const play = (of: Task, count: number): Promise<Trajectory[]> =>
    Promise.all(
      Array.from(
        { length: count },
        async (_, attempt) => (await ctx.play({ task: of, attempt, temperature }))[0],
      ),
    ).then(
      (all) =>
        all.filter((t) => t !== undefined && t.end.kind !== "failed" && t.turns.length > 0) as Trajectory[],
    );
  const [answers, alone] = await Promise.all([
    play(made, groupSize),
    play(posed(task, [], found, `${made.id}/alone`), probes),
  ]);
  const judged = await Promise.all(answers.map((answer) => verified(ctx, made, answer, found, options)));
  const right = judged.filter(({ isRight }) => isRight).length;
  const share = answers.length === 0 ? 0 : right / answers.length;
  const needless = alone.some((answer) => covers(textOf(answer), found.reference));
  const torn = judged.filter(({ verdicts }) => new Set(verdicts.map(rewardOfVerdict)).size > 1);
  const drawn = torn[ctx.random.split("torn", task.id).below(Math.max(1, torn.length))];
  return {
    ...{ task, share },
    question: paidFor(asked, needless ? -0.5 : rewardOf(share)),
    texts: [
      ...judged.map(({ answer, isRight }) => paidFor(answer, Number(isRight))),
      ...(drawn?.verdicts ?? []),
      ...alone,
    ],
    units: [
      ...(share > 0 && share < 1 ? answers.map(({ id }) => ({ id, group: made.id, members: [id] })) : []),
      ...(drawn?.verdicts ?? []).map(({ id }) => ({
        id,
        group: `${drawn!.answer.id}/verdicts`,
        members: [id],
      })),
    ],
    ...(share > 0 && !needless && { solvable: found.question }),
  };
}

const rewardOfVerdict = ({ turns }: Trajectory): number => turns[0]!.rewards.role!;

/** An answer, whether it counts as right, and the verdicts on it with their rewards. */
async function verified(
  ctx: Ctx,
  task: Task,
  answer: Trajectory,
  { question, reference }: { readonly question: string; readonly reference: string },
  options: ThreeRolesOptions,
) {
  const content = `${question} | ${reference} | ${textOf(answer)}\n${verifierQuestion}`;
  const given = await Promise.all(
    Array.from({ length: options.groupSize ?? 8 }, (_, j) =>
      said(ctx, {
        task,
        prompt: [asUser(content)],
        id: `${answer.id}/verdict ${j}`,
        role: "verifier",
        options,
      }),
    ),
  );
  const says = given.map((verdict) => /\bYES\b/.test(textOf(verdict)) && !/\bNO\b/.test(textOf(verdict)));
  const most = majority(says);
  const verdicts = given.map((verdict, j) => paidFor(verdict, Number(says[j] === most)));
  return { answer, verdicts, isRight: most || covers(textOf(answer), reference) };
}

/** The documents with a question as a further message. */
function posed(
  task: Task,
  documents: readonly Message[],
  { question, reference }: { readonly question: string; readonly reference: string },
  id: string,
): Task {
  const prompt = [...documents, asUser(question)];
  return { ...task, id, prompt, reference, seed: randomStream(task.seed).split(id).seed };
}

/** What the policy says to a conversation, as a trajectory of one turn. */
async function said(
  ctx: Ctx,
  {
    task,
    prompt: messages,
    id,
    role,
    options: { maxTokens = 64, temperature = 1 },
  }: {
    readonly task: Task;
    readonly prompt: readonly Message[];
    readonly id: string;
    readonly role: string;
    readonly options: ThreeRolesOptions;
  },
): Promise<Trajectory> {
  const model = ctx.model();
  const prompt = model.codec.open(messages);
  const seed = ctx.random.split("said", id).seed;
  const request = {
    prompt,
    maxTokens: Math.max(1, Math.min(maxTokens, model.contextTokens - prompt.length)),
  };
  const [sample] = await model.sample([{ ...request, temperature, seed }]);
  ctx.count("generations", 1);
  ctx.count("tokens.sampled", sample!.action.length);
  const turn = sampledTurn({
    model: { id: "policy", codec: model.codec },
    role,
    prompt,
    messages,
    sample: sample!,
  });
  return {
    id,
    task: task.id,
    episode: id,
    role,
    turns: [turn],
    end: { kind: "done", reason: "said" },
    origin: "sampled",
  };
}

const asUser = (content: string): Message => ({ role: "user", content });
const textOf = ({ turns }: Trajectory): string => turns.at(-1)!.action.content.trim();
const paidFor = (t: Trajectory, role: number): Trajectory => ({
  ...t,
  turns: t.turns.map((turn, k) =>
    k === t.turns.length - 1 ? { ...turn, rewards: { ...turn.rewards, role } } : turn,
  ),
});

const memoryOf = (task: Task): string => `questions ${task.id}`;
function recalled(ctx: Ctx, task: Task): readonly string[] {
  const kept = ctx.memory.get(memoryOf(task));
  return Array.isArray(kept) ? kept.filter((text) => typeof text === "string") : [];
}
function remember(ctx: Ctx, task: Task, question: string, { remembered = 3 }: ThreeRolesOptions): void {
  ctx.memory.set(memoryOf(task), [...recalled(ctx, task), question].slice(-remembered));
}
