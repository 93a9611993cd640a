import { concatIds } from "../../src/common/tokens/sequence.ts";
import { sampledTurn } from "../../src/common/tokens/turns.ts";
import type { Rollout } from "../../src/core/slots.ts";
import type { Trajectory } from "../../src/core/types.ts";

export const search: Rollout = async (ctx) => {
  const model = ctx.model();
  const trajectories: Trajectory[] = [];
  for (const task of ctx.tasks) {
    const random = ctx.random.split("search", task.id);
    const frontier = [model.codec.open(task.prompt)];
    for (let node = 0; node < 8; node++) {
      const prompt = frontier.shift();
      if (!prompt) break;
      const samples = await model.sample(
        Array.from({ length: 4 }, (_, k) => ({ prompt, maxTokens: 32, seed: random.split(node, k).seed })),
      );
      for (const [k, sample] of samples.entries()) {
        if (sample.stop === "length") frontier.push(concatIds([prompt, sample.action]));
        trajectories.push({
          id: `${task.id}/${node}/${k}`,
          task: task.id,
          episode: task.id,
          role: "agent",
          turns: [sampledTurn({ model, role: "agent", prompt, messages: task.prompt, sample })],
          end: { kind: "done", reason: sample.stop },
          origin: "sampled",
        });
      }
    }
  }
  return { trajectories, units: trajectories.map((t) => ({ id: t.id, group: t.task, members: [t.id] })) };
};
