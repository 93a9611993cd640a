import type { Json } from "../../src/core/json.ts";
import { signalValue } from "../../src/core/signal.ts";
import type { Rollout, Update } from "../../src/core/slots.ts";

const casesOf = (memory: Json | undefined): readonly Json[] => (Array.isArray(memory) ? memory : []);

export const withCases: Rollout = async (ctx) => {
  const cases = casesOf(ctx.memory.get("cases")).map(String);
  const keys = await ctx.embed(cases);
  const played = ctx.tasks.map(async (task, attempt) => {
    const [query] = await ctx.embed([task.prompt.map((m) => m.content).join("\n")]);
    const worth = await ctx.helper("retriever").predict(keys.map((key) => ({ query, key })));
    const advice = cases[worth.indexOf(Math.max(...worth))];
    return ctx.play({ task: task.id, attempt, ...(advice === undefined ? {} : { advice }) });
  });
  const trajectories = (await Promise.all(played)).flat();
  return { trajectories, units: trajectories.map((t) => ({ id: t.id, group: t.task, members: [t.id] })) };
};

export const writeCases: Update = async (ctx, _batch, _objectives, annotated) => {
  const good = annotated.trajectories.filter((t) =>
    annotated.signals.some((s) => s.about[0]?.trajectory === t.id && (signalValue(s) ?? 0) > 0),
  );
  const texts = good.map((t) => t.turns.map((turn) => turn.action.content).join("\n"));
  const cases = [...casesOf(ctx.memory.get("cases")), ...texts];
  ctx.memory.set("cases", cases);
  return { cases: cases.length };
};
