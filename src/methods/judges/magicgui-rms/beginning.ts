import type { Ctx } from "../../../core/context.ts";
import type { LabelledStep } from "./twoJudges.ts";

/**
 * Reward data to begin with: the steps of the environment's expert on the tasks of this iteration, as right, and for each of them one wrong
 * step, with an action that another step of the demonstrations has and this one has not. So right and wrong steps are equally many, and the
 * actions alone do not tell them apart. Empty where there is no demonstration; a step has no wrong one where all actions are the same.
 * Paper: "MagicGUI-RMS: A Multi-Agent Reward Model System for Self-Evolving GUI Agents via Automated Feedback Reflux".
 */
export async function demonstratedSteps(ctx: Ctx): Promise<readonly LabelledStep[]> {
  const shown = await Promise.all(
    ctx.tasks.map((task, attempt) => ctx.play({ task: task.id, attempt, player: "expert" })),
  );
  const right = shown.flat().flatMap(({ turns }) =>
    turns.map((turn) => ({
      seen: turn.prompt.at(-1)?.content ?? "",
      action: turn.action.content.trim(),
      label: 1 as const,
    })),
  );
  const actions = [...new Set(right.map(({ action }) => action))];
  const random = ctx.random.split("beginning");
  const wrong = right.flatMap(({ seen, action }, i): LabelledStep[] => {
    const others = actions.filter((other) => other !== action);
    if (others.length === 0) return [];
    return [{ seen, action: others[random.split(i).below(others.length)]!, label: 0 }];
  });
  return [...right, ...wrong];
}
