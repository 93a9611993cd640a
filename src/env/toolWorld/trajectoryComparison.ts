/** Which of two trajectories at the tool desk is the better one: comparing them as a task of its own. */
import type { TrajectoryPair } from "../../common/tokens/pairs.ts";
import type { Task, Trajectory } from "../../core/types.ts";
import { defineEnvironment, type Environment } from "../environment.ts";
import { machine } from "../machine.ts";
import { trajectoryPairs } from "./pairs.ts";
import { deskWords } from "./world.ts";

/** Settings of {@link trajectoryComparison}. */
export interface TrajectoryComparisonOptions {
  /** Look-ups of the tasks whose attempts are compared, in turn. Default 1, 2, 3. */
  readonly blocks?: readonly number[];
  /** Pairs that are trained. Default 120; a quarter of it validates, half of it tests. */
  readonly pairs?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The environment, and the pairs that its tasks ask about. */
export interface TrajectoryComparison extends Environment {
  /** In order; pair k is asked about in tasks 2 k, the better one first, and 2 k + 1, the better one second. */
  pairs(split: string): readonly TrajectoryPair[];
}

const answers = ["first", "second"] as const;

/** A trajectory as it is shown. */
const shown = ({ turns }: Trajectory): string =>
  turns
    .flatMap(({ action }, i) => [action.content, turns[i + 1]?.prompt.at(-1)?.content ?? ""])
    .filter((text) => text !== "")
    .join(" ; ");

const asked = (task: Task, first: Trajectory, second: Trajectory): string =>
  `task : ${task.prompt[0]!.content} . first : ${shown(first)} . second : ${shown(second)} . which is better ?`;

/**
 * Two trajectories of one task in one prompt, and one word in reply, `first` or `second`; `outcome` 1 for the better
 * one. Every pair is asked about in both orders, so that whoever goes by the place is right half of the time. The
 * flawed player prefers the longer one. Pairs and their make-up: `trajectoryPairs`.
 */
export function trajectoryComparison(options: TrajectoryComparisonOptions = {}): TrajectoryComparison {
  const { blocks = [1, 2, 3], pairs: count = 120, seed = 1 } = options;
  const counts: Readonly<Record<string, number>> = {
    train: count,
    validation: Math.ceil(count / 4),
    test: Math.ceil(count / 2),
  };
  const splits = Object.keys(counts);
  const made = new Map<string, readonly TrajectoryPair[]>();
  const pairs = (split: string): readonly TrajectoryPair[] => {
    const known = made.get(split);
    if (known) return known;
    // a seed for each split, so that no pair is in two of them
    const own = seed * splits.length + splits.indexOf(split);
    const fresh = trajectoryPairs({ count: counts[split] ?? 0, blocks, seed: own });
    made.set(split, fresh);
    return fresh;
  };
  const tasksOf = (split: string): readonly Task[] =>
    pairs(split).flatMap(({ task, chosen, rejected, labels }, index) =>
      answers.map((reference): Task => {
        const [first, second] = reference === "first" ? [chosen, rejected] : [rejected, chosen];
        const content = asked(task, first, second);
        const longer = shown(first).length >= shown(second).length ? "first" : "second";
        return {
          id: `trajectory-pairs/${split}/${index}/${reference}`,
          prompt: [{ role: "user", content }],
          reference,
          metadata: { ...labels, longer },
          seed: task.seed,
        };
      }),
    );
  const outcomeOf = (task: Task, said: string | undefined): number => (said === task.reference ? 1 : 0);
  const environment = defineEnvironment({
    name: "trajectory-pairs",
    summary: "say which of two attempts at a task with tools is the better one",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits,
    limits: { turns: 1, actionTokens: 1 },
    tasks: (split) => (splits.includes(split) ? tasksOf(split) : []),
    start: async (task, random) =>
      machine<null>(
        {
          see: () => ({ messages: [], stateKey: task.id, legal: answers }),
          act: (next, action) => {
            const outcome = outcomeOf(task, action);
            const text = outcome === 1 ? {} : { text: `the ${task.reference} is better` };
            const end = { kind: "done", reason: "judged", success: outcome === 1 } as const;
            return { next, rewards: { outcome }, end, ...text };
          },
        },
        null,
        random,
      ),
    vocabulary: () => [...deskWords, "task : . first second which is better ? the ;"],
    expert: (task) => task.reference ?? "first",
    flawed: (task) => String(task.metadata.longer),
    verify: async (task, { turns }) => ({ outcome: outcomeOf(task, turns[0]?.action.content.trim()) }),
  });
  return { ...environment, pairs };
}
