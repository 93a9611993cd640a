import type { Feedback } from "../../src/core/slots.ts";
import type { Task } from "../../src/core/types.ts";

const proposed = (text: string, id: string): Task => ({
  id,
  prompt: [{ role: "user", content: text }],
  metadata: {},
  seed: 0,
});

export const progress: Feedback = async (ctx, { trajectories, units }) =>
  Promise.all(
    units.map(async (unit) => {
      const members = trajectories.filter((t) => unit.members.includes(t.id));
      const tasks = members.map((t) => proposed(t.turns[0]?.action.content ?? "", `proposed/${t.id}`));
      const student = await ctx.model("student").fork("copy");
      const { success } = await ctx.learn({
        student: "student",
        model: student,
        tasks,
        iterations: 2,
        measure: ctx.tasks.map((t) => t.id),
      });
      await student.dispose();
      const about = members.map((t) => ({ trajectory: t.id }));
      return { kind: "reward" as const, channel: "progress", about, value: success, source: "student" };
    }),
  );
