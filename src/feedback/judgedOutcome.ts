import { type Able, evaluatorIn, totalScore } from "../core/evaluator.ts";
import type { Signal } from "../core/signal.ts";
import type { Feedback } from "../core/slots.ts";

/**
 * The evaluator's verdict is the whole reward, whatever the environment pays:
 *
 *     R = 1 where its score is at least ½, else 0
 *
 * On channel "outcome". Attempts that it cannot score, and failed episodes, get no signal.
 * Papers: "Proposer-Agent-Evaluator(PAE): Autonomous Skill Discovery For Foundation Model Internet Agents"; "WebEvolver: Enhancing Web Agent
 * Self-Improvement with Coevolving World Model".
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
