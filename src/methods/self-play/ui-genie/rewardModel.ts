import { sigmoid } from "../../../common/statistics/logistic.ts";
import type { StatefulHelper } from "../../../core/context.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { crossedWords } from "../../../helper/crossedWords.ts";
import {
  fitLogistic,
  type LogisticWeights,
  oddsOf,
  readWeights,
  withIntercept,
} from "../../../helper/logisticRegression.ts";
import type { Features } from "../../../helper/ridge.ts";

/** A screen, and what was done there. */
export interface Acted {
  readonly screen: string;
  readonly action: string;
}

/** What the reward model judges: the last action of these, or, in mode "task", whether all of them do what was asked. */
export interface Judged {
  readonly mode: "step" | "task";
  readonly goal: string;
  readonly acted: readonly Acted[];
}

/** A judgement and its truth: 1 or 0. */
export interface JudgedRow {
  readonly x: Judged;
  readonly y: number;
  readonly weight: number;
}

/** What was done in an episode: the last message before each action is its screen. */
export const actedIn = ({ turns }: Trajectory): readonly Acted[] =>
  turns.map(({ prompt, action }) => ({
    screen: prompt.at(-1)?.content ?? "",
    action: action.content.trim(),
  }));
export const goalOf = ({ prompt }: Task): string => prompt.map(({ content }) => content).join("\n");

/** Words of the action with those of goal and screen, and words of the screen with those of the goal; those of each mode apart. */
export const wordsOf = ({ mode, goal, acted }: Judged): Features => {
  const { screen = "", action = "" } = acted.at(-1) ?? {};
  const pairs = { ...crossedWords(`${goal} ${screen}`, action), ...crossedWords(goal, screen) };
  return Object.fromEntries(Object.entries(pairs).map(([name, value]) => [`${mode}: ${name}`, value]));
};

/**
 * One model of both kinds of reward: the probability that the last action is right, or that the task was done, by mode.
 *
 *     p(x) = σ(θ · features(x)),   θ: cross-entropy on all rows, from the θ before
 *
 * Paper: "UI-Genie: A Self-Improving Approach for Iteratively Boosting MLLM-based Mobile GUI Agents".
 */
export const unifiedReward =
  (features: (x: Judged) => Features = wordsOf) =>
  (): StatefulHelper<Judged, number, number> => {
    let theta: LogisticWeights = new Map();
    const read = (x: Judged): Features => withIntercept(features(x));
    return {
      fit: async (rows) => {
        theta = fitLogistic(
          rows.map(({ x, y, weight }) => ({ x: read(x), y, weight })),
          theta,
        );
        return { rows: rows.length };
      },
      predict: async (xs) => xs.map((x) => sigmoid(oddsOf(theta, read(x)))),
      save: () => Object.fromEntries(theta),
      load: (state) => {
        theta = readWeights(state, "unifiedReward");
      },
    };
  };

/**
 * What demonstrations say to a reward model, without any label by hand. Of each demonstration:
 *
 *     step, right:   every prefix                    step, wrong:   a prefix whose last action is any other that demonstrations have
 *     task, right:   the whole                       task, wrong:   it ends early; or it is a demonstration for another goal
 *
 * Wrong ones weigh as much as right ones together.
 */
export function bootstrapped(
  demonstrations: readonly { readonly goal: string; readonly acted: readonly Acted[] }[],
): readonly JudgedRow[] {
  const actions = [...new Set(demonstrations.flatMap(({ acted }) => acted.map(({ action }) => action)))];
  return demonstrations.flatMap(({ goal, acted }, d) => {
    const last = acted.at(-1);
    if (!last) return [];
    const rows = acted.flatMap((one, k): JudgedRow[] => {
      const before = acted.slice(0, k);
      const others = actions.filter((action) => action !== one.action);
      const wrong = others.map((action) => ({
        x: { mode: "step", goal, acted: [...before, { ...one, action }] } as const,
        ...{ y: 0, weight: 1 / others.length },
      }));
      return [{ x: { mode: "step", goal, acted: [...before, one] }, y: 1, weight: 1 }, ...wrong];
    });
    // the last action is the one that says that the task is done
    const early = acted.slice(0, -1).map((one, k) => [...acted.slice(0, k), { ...one, action: last.action }]);
    const other = demonstrations[(d + 1) % demonstrations.length]!;
    const wrong = [...early, ...(other.goal === goal ? [] : [other.acted])];
    return [
      ...rows,
      { x: { mode: "task", goal, acted }, y: 1, weight: 1 },
      ...wrong.map(
        (of): JudgedRow => ({
          ...{ x: { mode: "task", goal, acted: of }, y: 0, weight: 1 / wrong.length },
        }),
      ),
    ];
  });
}

/**
 * What an accepted episode says to it: all of its steps and the whole were right, and an action that the search tried at one of its screens instead was
 * wrong, a hard negative, since the policy and the reward model had considered it. A rejected episode says nothing: its scores are the reward model's own.
 * @param tried beginnings that the search looked at.
 */
export function learntFrom(
  goal: string,
  accepted: readonly Acted[],
  tried: readonly (readonly Acted[])[],
): readonly JudgedRow[] {
  const actions = (acted: readonly Acted[]): string => JSON.stringify(acted.map(({ action }) => action));
  const begins = new Set(accepted.map((_, k) => actions(accepted.slice(0, k + 1))));
  const steps = accepted.map((_, k): Judged => ({ mode: "step", goal, acted: accepted.slice(0, k + 1) }));
  const wrong = tried.filter(
    (acted) => !begins.has(actions(acted)) && (acted.length === 1 || begins.has(actions(acted.slice(0, -1)))),
  );
  return [
    ...steps.map((x): JudgedRow => ({ x, y: 1, weight: 1 })),
    ...wrong.map((acted): JudgedRow => ({ x: { mode: "step", goal, acted }, y: 0, weight: 1 })),
    { x: { mode: "task", goal, acted: accepted }, y: 1, weight: 1 },
  ];
}
