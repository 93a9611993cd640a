/** Inverses modulo a prime, answered twice: a first answer that may be misread, then a revision of what was read. */
import { type Random, randomStream } from "../core/random.ts";
import { succeeded, type Task } from "../core/types.ts";
import { critiqueWords, templated, wholeAction } from "../env/critiques.ts";
import { type Ability, defineEnvironment, type Environment } from "../env/environment.ts";
import { machine } from "../env/machine.ts";

/** Settings of {@link inverses}. */
export interface InversesOptions {
  /** A prime; questions are about the numbers 1 to prime − 1. Default 11. */
  readonly modulus?: number;
  /** Probability that the first answer is misread as a random other number, which training cannot prevent. Default 0.3. */
  readonly slip?: number;
  /** Probability that after a wrong first answer the second one does not count, which makes repair hard. Default 0. */
  readonly lost?: number;
  /** Whether randomness is fixed per task, the same at each attempt, or drawn per episode. Default "task". */
  readonly luck?: "task" | "episode";
  /** Tasks per split and number. They differ at most in their randomness. Default 20. */
  readonly each?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The number whose product with the task's is 1 modulo the prime. */
export const inverseOf = (task: Task): number => Number(task.metadata.inverse);

/** The number read in place of the first answer, if it is misread, and whether a mistake can be repaired. */
interface Luck {
  readonly read: number | undefined;
  readonly lost: boolean;
}

/**
 * The answer to "invert 3" is one number. It may be misread; the number read is shown as "3 times 7 : revise", and a second
 * answer ends the episode. Each answer has its own `outcome` of 1 or 0; the second one decides success. The observation does
 * not say whether the first answer was right, but allows the agent to compute it. Misreadings are unpredictable. A critique
 * judges the answers as given, as "step 1" and "step 2", and not what was read.
 */
export function inverses(options: InversesOptions = {}): Environment {
  const { modulus = 11, slip = 0.3, lost = 0, luck = "task", each = 20, seed = 1 } = options;
  const splits = ["train", "test"] as const;
  const numbers = Array.from({ length: modulus - 1 }, (_, i) => i + 1);

  const number = (text: string): number | undefined => numbers.find((n) => `${n}` === text);
  const luckFrom = (random: Random): Luck => {
    const slipped = random.split("slip").next() < slip;
    return {
      read: slipped ? numbers[random.split("read").below(numbers.length)] : undefined,
      lost: random.split("lost").next() < lost,
    };
  };
  /** The number read as first answer, and the rewards of both answers. */
  const judged = (task: Task, lucky: Luck, first: string, second = "") => {
    const read = lucky.read ?? number(first);
    const kept = read === inverseOf(task);
    const mended = number(second) === inverseOf(task) && (kept || !lucky.lost);
    return { read: read ?? "nothing", first: kept ? 1 : 0, second: mended ? 1 : 0 };
  };

  return defineEnvironment({
    name: "inverses",
    summary: "say the inverse of a number modulo a prime; what was read is shown, and is answered once more",
    abilities: new Set<Ability>([
      ...(luck === "task" ? (["replay"] as const) : []),
      "stateKey",
      "expert",
      "legal",
    ]),
    roles: ["agent"],
    splits,
    limits: { turns: 2, actionTokens: 1 },
    vocabulary: () => ["invert times : revise nothing", ...numbers.map(String)],
    tasks: (split) =>
      splits.some((name) => name === split)
        ? Array.from({ length: each * numbers.length }, (_, index) => {
            const asked = numbers[index % numbers.length]!;
            return {
              id: `inverses/${split}/${index}`,
              prompt: [{ role: "user", content: `invert ${asked}` }],
              metadata: { asked, inverse: numbers.find((n) => (n * asked) % modulus === 1)! },
              seed: randomStream(seed).split("inverses", split, index).seed,
            };
          })
        : [],
    expert: (task) => `${inverseOf(task)}`,
    /** Answers rightly, and never looks again. */
    flawed: (task, conversation) => conversation.at(-1)?.content.split(" ")[2] ?? `${inverseOf(task)}`,
    start: async (task, random) => {
      const lucky = luckFrom(luck === "task" ? randomStream(task.seed) : random);
      return machine<{ readonly first: string | undefined }>(
        {
          see: ({ first }) => {
            const shown =
              first === undefined
                ? undefined
                : `${task.metadata.asked} times ${judged(task, lucky, first).read} : revise`;
            return {
              messages: shown === undefined ? [] : [{ role: "user", content: shown }],
              stateKey: `${task.id} ${shown ?? ""}`,
              legal: numbers.map(String),
            };
          },
          act: ({ first }, action) => {
            if (first === undefined) {
              return { next: { first: action }, rewards: { outcome: judged(task, lucky, action).first } };
            }
            const outcome = judged(task, lucky, first, action).second;
            const reason = outcome === 1 ? "right" : "wrong";
            const end = { kind: "done", reason, success: outcome === 1 } as const;
            return { next: { first }, rewards: { outcome }, end };
          },
        },
        { first: undefined },
        random,
      );
    },
    critiqueVocabulary: () => critiqueWords(2),
    async critique(task, trajectory, request) {
      const better = `${inverseOf(task)}`;
      const parts = trajectory.turns.slice(0, 2).map(({ action }, k) => {
        const said = action.content.trim();
        const worse = numbers.map(String).filter((other) => other !== better && other !== said);
        return {
          ...wholeAction(k, action.content),
          good: said === better,
          name: `step ${k + 1}`,
          better,
          worse,
        };
      });
      return templated({ outcome: succeeded(trajectory) ? "success" : "failure", parts }, request);
    },
    async verify(task, { turns }) {
      // an episode's randomness is recorded only in its rewards
      if (luck === "episode") return { outcome: turns.at(1)?.rewards.outcome ?? 0 };
      const [first, second] = turns.map((turn) => turn.action.content.trim());
      const lucky = luckFrom(randomStream(task.seed));
      return { outcome: first === undefined ? 0 : judged(task, lucky, first, second).second };
    },
  });
}
