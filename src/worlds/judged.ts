/** Questions whose answers are right or wrong in truth, and what tests and a reward model say of them, which may err. */
import { sigmoid } from "../common/statistics/logistic.ts";
import { type Able, scorer } from "../core/evaluator.ts";
import { randomStream, shuffled } from "../core/random.ts";
import type { Task, Trajectory } from "../core/types.ts";
import type { Environment } from "../env/environment.ts";
import { oneReply } from "../env/oneReply.ts";

/** Settings of {@link judged}. */
export interface JudgedOptions {
  /** Number of training questions, and of held-out questions. Default 40. */
  readonly questions?: number;
  /** Answers to choose from. Default 24. */
  readonly answers?: number;
  /** Share of a question's answers that are right, at least one. Default 0.25. */
  readonly right?: number;
  /** Probability that the tests are wrong about an answer, always in the same way. Default 0. */
  readonly testError?: number;
  /** Probability that an answer has the look that reward models overrate. Default 0. */
  readonly showy?: number;
  /** What the reward model's logit is made of. Default: `truth` 1.6, `noise` 1.6, the rest 0. */
  readonly model?: Partial<RewardModelLogit>;
  /** Default 1. */
  readonly seed?: number;
}

/**
 * Weights of a logit ±truth + quality · (q − ½) + showy · [showy and wrong] + noise · ε, with q uniform in [0, 1] and ε standard
 * normal, both fixed for each answer.
 */
export interface RewardModelLogit {
  readonly truth: number;
  readonly quality: number;
  readonly showy: number;
  readonly noise: number;
}

/** What there is to know of an answer to a question. */
export interface Answer {
  readonly right: boolean;
  /** What the tests say. */
  readonly passes: boolean;
  /** Quality of the way to it, in [0, 1], which no test sees. */
  readonly quality: number;
  /** Whether it looks good without being so. */
  readonly showy: boolean;
  /** The reward model's logit. */
  readonly logit: number;
}

/** A world of judged answers, with its hidden truth. */
export interface Judged extends Environment {
  /** The answers, `a0`, `a1`… */
  readonly words: readonly string[];
  /** Undefined for a text that is no answer. */
  answerOf(task: Task, text: string): Answer | undefined;
  /** The reward model: the probability σ(logit) that an attempt's last reply is right; nothing for a text that is no answer. */
  readonly rewardModel: Able<"score">;
}

/**
 * The answer to question `q7` is one word. Reward `outcome` and success are what the tests say; truth, quality and the reward
 * model are for methods and metrics to ask.
 */
export function judged(options: JudgedOptions = {}): Judged {
  const { questions = 40, answers = 24, right = 0.25, testError = 0, showy = 0, seed = 1 } = options;
  const weights: RewardModelLogit = { truth: 1.6, quality: 0, showy: 0, noise: 1.6, ...options.model };
  const words = Array.from({ length: answers }, (_, i) => `a${i}`);
  const known = new Map<number, ReadonlyMap<string, Answer>>();
  const allOf = (task: Task): ReadonlyMap<string, Answer> => {
    const found = known.get(task.seed) ?? made(task);
    known.set(task.seed, found);
    return found;
  };

  function made(task: Task): ReadonlyMap<string, Answer> {
    const stream = randomStream(task.seed);
    const count = Math.max(1, Math.round(right * answers));
    const rightOnes = new Set(shuffled(words, stream.split("right")).slice(0, count));
    return new Map(
      words.map((word) => {
        const own = stream.split("answer", word);
        const truth = rightOnes.has(word);
        const quality = own.split("quality").next();
        const looks = own.split("showy").next() < showy;
        const logit =
          (truth ? weights.truth : -weights.truth) +
          weights.quality * (quality - 0.5) +
          (looks && !truth ? weights.showy : 0) +
          weights.noise * own.split("noise").normal();
        const erred = own.split("tests").next() < testError;
        return [word, { right: truth, passes: truth !== erred, quality, showy: looks, logit }];
      }),
    );
  }

  const answerOf: Judged["answerOf"] = (task, text) => allOf(task).get(text.trim());
  return {
    words,
    answerOf,
    rewardModel: scorer("reward model of the world", async ({ task, trajectory }) => {
      const answer = answerOf(task, lastReply(trajectory));
      return answer && sigmoid(answer.logit);
    }),
    ...oneReply({
      name: "judged",
      summary: "answer with one word; what tests and a reward model say of it may be wrong",
      questions,
      length: 1,
      words,
      seed,
      grade: (task, reply) => {
        const passes = answerOf(task, reply)?.passes ?? false;
        return { rewards: { outcome: passes ? 1 : 0 }, success: passes };
      },
      expert: (task) => {
        const passing = words.filter((word) => answerOf(task, word)?.passes);
        return passing.find((word) => answerOf(task, word)?.right) ?? passing[0] ?? words[0]!;
      },
    }),
  };
}

const lastReply = ({ turns }: Trajectory): string => turns.at(-1)?.action.content ?? "";
