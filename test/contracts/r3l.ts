import { rewritten } from "../../src/common/tokens/rewrite.ts";
import type { Rollout } from "../../src/core/slots.ts";

export const retry: Rollout = async (ctx) => {
  const codec = ctx.model().codec;
  const tried = await Promise.all(
    ctx.tasks.map(async (task) => {
      const [first] = await ctx.play({ task: task.id, attempt: 0 });
      if (!first) return [];
      const pivot = Math.floor(first.turns.length / 2);
      const advice = "Try something else from here.";
      const from = { trajectory: first, turn: pivot, why: "retry" } as const;
      const [second] = await ctx.play({ task: task.id, attempt: 1, from, advice });
      if (!second) return [first];
      const plain = (m: { readonly content: string }): boolean => m.content !== advice;
      return [first, rewritten(second, `${second.id}/plain`, codec, (messages) => messages.filter(plain))];
    }),
  );
  const trajectories = tried.flat();
  return { trajectories, units: trajectories.map((t) => ({ id: t.id, group: t.task, members: [t.id] })) };
};
