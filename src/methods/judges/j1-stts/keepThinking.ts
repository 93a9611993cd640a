import type { Random } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";

/** Settings of {@link keepThinking}. */
export interface KeepThinkingOptions {
  /** How many verdicts of an episode are refused; its task decides. */
  times(task: Task): number;
  /** Whether an action would end the judgement. */
  isVerdict(action: string): boolean;
  /** What is said instead of an end. Default "Wait". */
  readonly cue?: string;
}

/**
 * Test-time scaling by force: the first `times` verdicts of an episode do not reach the environment. In their place the conversation goes on
 * with a cue, and the judge thinks on with everything that it has seen.
 *
 *     think, verdict → "Wait", think, verdict → "Wait", …, think, verdict          accuracy(n): of the last verdict after n cues
 *
 * Other actions pass unchanged, and refused verdicts do not count against the action limit. The cue is a message of the user, so that it is never trained on.
 * Paper: "J1: Exploring Simple Test-Time Scaling for LLM-as-a-Judge".
 */
export function keepThinking(environment: Environment, options: KeepThinkingOptions): Environment {
  const { times, isVerdict, cue = "Wait" } = options;
  const { vocabulary, critique: _critique, ...rest } = environment;
  const most = Math.max(0, ...environment.splits.flatMap((split) => environment.tasks(split)).map(times));
  const start = async (task: Task, random: Random): Promise<Episode> => {
    const inner = await environment.start(task, random);
    let left = times(task);
    /** Whether the last action was refused. */
    let pending = false;
    return {
      async observe() {
        if (!pending) return inner.observe();
        pending = false;
        return {
          role: environment.roles[0]!,
          observation: { messages: [{ role: "user", content: cue }] },
        };
      },
      async act(action) {
        if (left > 0 && isVerdict(action.content.trim())) {
          left--;
          pending = true;
          return {};
        }
        return inner.act(action);
      },
      close: async () => inner.close?.(),
    };
  };
  return defineEnvironment({
    ...rest,
    name: `keep-thinking-${environment.name}`,
    summary: `${environment.summary}; some verdicts are refused`,
    abilities: new Set([...environment.abilities].filter((ability) => ability !== "stateKey")),
    limits: { ...environment.limits, turns: environment.limits.turns + most },
    start,
    ...(vocabulary && { vocabulary: () => [...vocabulary(), cue] }),
  });
}
