import { present } from "../../../core/errors.ts";
import { type Able, type Attempt, evaluatorIn, scorer, totalScore } from "../../../core/evaluator.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { ModelId } from "../../../core/types.ts";
import { yesProbability } from "../../../evaluator/yesProbability.ts";

/** What the evaluator is asked, after what it sees. */
export const successQuestion = "Was the task done ? YES or NO";

/**
 * A model of the run as evaluator of outcomes: the probability of YES, among YES and NO, to {@link successQuestion}. It sees the task, the
 * last observations and the final action, and none of the actions between, so that it judges what came of them and not how they read.
 * Attempts without an action, or too long for it, get no score.
 * @param last number of observations that it sees.
 */
export const outcomeEvaluator = (model: ModelId = "judge", last = 3): Able<"score"> =>
  scorer<Attempt>(`${model}: ${successQuestion}`, async ({ task, trajectory: { turns } }, { run }) => {
    const final = turns.at(-1);
    if (!final) return undefined;
    const seen = final.prompt.slice(task.prompt.length).filter(({ role }) => role !== "assistant");
    const told = [...task.prompt, ...seen.slice(-last), final.action].map(({ content }) => content);
    const content = [...told, successQuestion].join("\n");
    const reader = present(run?.model, "outcomeEvaluator", "model of a run")(model);
    return yesProbability(reader, [{ role: "user", content }]);
  });

/**
 * The evaluator's verdict is the whole reward, whatever the environment pays:
 *
 *     R = 1 where its score is at least ½, else 0
 *
 * On channel "outcome". Attempts that it cannot score, and failed episodes, get no signal.
 * Paper: "Proposer-Agent-Evaluator(PAE): Autonomous Skill Discovery For Foundation Model Internet Agents".
 */
export function judgedOutcome(evaluator: Able<"score">): Feedback {
  return async (ctx, { trajectories }) => {
    const { score } = evaluatorIn(ctx, evaluator);
    const played = trajectories.filter((t) => t.end.kind !== "failed");
    const signals = played.map(async (t): Promise<Signal[]> => {
      const scores = await score(t, ctx.random.split("judged", t.id));
      if (!scores) return [];
      const value = totalScore(scores) >= 0.5 ? 1 : 0;
      return [
        { kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value, source: evaluator.name },
      ];
    });
    return (await Promise.all(signals)).flat();
  };
}
