import type { Signal } from "../../../core/signal.ts";
import type { Feedback, Rollout } from "../../../core/slots.ts";
import type { Message, Task } from "../../../core/types.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { type Features, type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { answers, rightOf } from "../../../worlds/answers.ts";
import { evaluationQuestion, type ReadGrade, scoreQuestion } from "./discussion.ts";
import { discussing, three } from "./method.ts";

const [questions, choices, groupSize] = [15, 6, 8];
const world = (seed: number) => answers({ questions, vocabulary: choices, right: 1, seed });

/** All agents are one model that is told who it is; their tables share nothing. */
const participants = three.map(({ name }) => ({ name, model: "policy" }));

/** Number of the question, and of the agent that was addressed last. */
const read = (context: readonly string[]) => ({
  question: context.find((word) => /^q\d+$/.test(word)) ?? "",
  agent: Number(context[context.lastIndexOf("agent") + 1] ?? 1) - 1,
});

/** An agent's answer is the same whether it solves or says what it thinks of a solution. */
const reader: Features = (context) => {
  const { question, agent } = read(context);
  return [`${agent} ${question}`];
};

/**
 * An agent is good at two thirds of the questions (logit 1.8 on the right answer), and believes in a wrong answer on its own third (1.8, 0.3 on the right
 * one). Alike: all believe in the same one, on the first third.
 */
const believing = (seed: number, alike: boolean): Prior => {
  const right = new Map(
    world(seed)
      .tasks("train")
      .map((task) => [task.prompt[0]!.content, Number(rightOf(task)[0]!.slice(1))]),
  );
  return (context, word) => {
    if (!/^a\d$/.test(word)) return -1e9;
    const { question, agent } = read(context);
    const [who, said] = [alike ? 0 : agent, Number(word.slice(1))];
    const truth = right.get(question) ?? 0;
    if (Number(question.slice(1)) % 3 !== who) return said === truth ? 1.8 : 0;
    return said === truth ? 0.3 : said === (truth + 1 + who) % choices ? 1.8 : 0;
  };
};

/** An evaluator and a scorer each say their own answer: the grade is 1, and 1 more for each that agrees. */
const agreeing: ReadGrade = ({ solution, evaluation, score }) =>
  1 + Number(solution === evaluation) + Number(solution === score);

/** Solvers alone are trained: an evaluator that is paid for disagreeing would unlearn the answers, which share its table. */
const solversAlone =
  (rollout: Rollout): Rollout =>
  async (ctx) => {
    const all = await rollout(ctx);
    return { ...all, units: all.units.filter(({ group }) => group.startsWith("solution/")) };
  };

/** 1 for an answer that most of the same agent's answers to the question are; of equally many, the first. */
const ownMajority: Feedback = async (_ctx, { trajectories, units }) => {
  const own = new Set(units.flatMap(({ members }) => members));
  const solutions = trajectories.filter(({ id }) => own.has(id));
  return [...Map.groupBy(solutions, ({ task }) => task).values()].flatMap((group) => {
    const said = group.map(({ turns }) => turns.at(-1)!.action.content.trim());
    const votes = (answer: string): number => said.filter((other) => other === answer).length;
    const most = said.toSorted((a, b) => votes(b) - votes(a))[0];
    return group.map(({ id }, i): Signal => {
      const value = Number(said[i] === most);
      return { kind: "reward", channel: "outcome", about: [{ trajectory: id }], value, source: "majority" };
    });
  });
};

const arm = (what: string, alike: boolean, slots: (s: SlotChoices) => SlotChoices): Arm =>
  trainingArm({
    recipe: method({
      id: "comas",
      family: "self-play",
      summary: what,
      says: [`${three.map(({ name }) => name).join(" ")} ${evaluationQuestion} ${scoreQuestion}\n`],
      slots: () => {
        const own = discussing({ participants, groupSize, read: agreeing, maxTokens: 1 }, 0);
        return slots({ ...own, rollout: solversAlone(own.rollout!) });
      },
    }),
    environment: world,
    engine: (seed) => tabularEngine({ prior: believing(seed, alike), features: reader }),
    iterations: 60,
    settings: { ...plainAscent, tasks: 6, groupSize },
    grid: [3, 10, 30, 100].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) =>
      meanOver(world(seed).tasks("train"), async (task) => {
        const of = participants.map(async ({ name }) => {
          const told: readonly Message[] = [...task.prompt, { role: "user", content: name }];
          const asked: Task = { ...task, prompt: told };
          return (await replyProbabilities(policy, asked, [rightOf(task)[0]!]))[0]!;
        });
        return (await Promise.all(of)).reduce((a, b) => a + b, 0) / of.length;
      }),
    more: ({ curve }) => ({ "mean grade, last 10 iterations": averageOf(curve.slice(-10), "grade") }),
  });

const majority = (s: SlotChoices): SlotChoices => ({ ...s, feedback: ownMajority });

export default defineCheck({
  id: "comas",
  level: "shared",
  claim:
    "Agents with different weaknesses learn the truth from each other's grades, where each one's own majority confirms its mistakes.",
  metric: "probability of a right answer, exact, mean over three agents and 15 questions",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  simpler: ["baseline", "alike"],
  unequalCost:
    "every arm plays 2,880 solutions; each is followed by an evaluation and a score of one word, which the majority does not use",
  notes:
    "Evaluators and scorers are not trained here: each says its own answer, and shares its table with the solver that it is elsewhere. The gain is the diversity of errors: agents that are weak in the same place learn no more from each other than from themselves.",
  baseline: arm("each paid by the majority of its own answers", false, majority),
  method: arm("graded by two others", false, (s) => s),
  others: {
    alike: arm("graded by two others that have the same weakness", true, (s) => s),
    "alike, majority": arm("agents with the same weakness, each paid by its own majority", true, majority),
  },
});
