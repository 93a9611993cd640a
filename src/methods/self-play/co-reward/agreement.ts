import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Id, Trajectory } from "../../../core/types.ts";
import { otherView } from "./bothViews.ts";

/** The answer of an attempt: its last reply, with single blanks; "" where there is none. */
export const answerOf = ({ turns }: Trajectory): string =>
  (turns.at(-1)?.action.content ?? "").trim().replace(/\s+/g, " ");

/** The most frequent answer that is not empty, of equally frequent ones the first; undefined where all are empty. */
export function majority(answers: readonly string[]): string | undefined {
  const counts = Map.groupBy(
    answers.filter((answer) => answer !== ""),
    (answer) => answer,
  );
  const most = Math.max(0, ...[...counts.values()].map(({ length }) => length));
  return [...counts].find(([, { length }]) => length === most)?.[0];
}

/**
 * Pays attempts that agree with the majority of the other view's attempts at the same question:
 *
 *     r[i] = 1[a_i = majority(a′)],   r′[i] = 1[a′_i = majority(a)]
 *
 * Without any answer on the side that labels, all get 0: an empty answer never agrees with an empty one. Failed attempts neither vote
 * nor are paid. Stats are none; how often both majorities agree is what a run of {@link bothViews} can be judged by beforehand.
 * @param label whose majority is the label: the other view's, one's own, or that of both together.
 * Paper: "Co-Reward: Self-supervised Reinforcement Learning for Large Language Model Reasoning via Contrastive Agreement".
 */
export function agreement(label: "other" | "own" | "both" = "other"): Feedback {
  return async (_ctx, { trajectories }) => {
    const ended = trajectories.filter(({ end }) => end.kind !== "failed");
    const views = Map.groupBy(ended, ({ task }) => task);
    const answersTo = (task: Id): string[] => (views.get(task) ?? []).map(answerOf);
    const labels = new Map(
      [...views.keys()].map((task) => {
        const [own, other] = [answersTo(task), answersTo(otherView(task))];
        return [task, majority(label === "own" ? own : label === "other" ? other : [...own, ...other])];
      }),
    );
    return ended.map((t): Signal => {
      const wanted = labels.get(t.task);
      const value = wanted !== undefined && answerOf(t) === wanted ? 1 : 0;
      return { kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value, source: "majority" };
    });
  };
}
