import { mean } from "../../../common/statistics/statistics.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import type { Message, Task } from "../../../core/types.ts";
import { entangledInstructions, linesOf } from "../../../env/entangled/entangled.ts";
import type { Instruction } from "../../../env/entangled/instructions.ts";
import { conversationScores } from "../../../env/entangled/scores.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";

/** Conversations of each of nine categories: 1008 in all. */
const perCategory = 112;

/** Replacement for a forgotten line: words that few others share. */
const nothing: Instruction = { kind: "trigger", when: "nothing", reply: "nothing" };

/** The task as seen by an agent that forgets each instruction with this probability. */
function forgotten(task: Task, share: number, random: Random): Task {
  const lines = linesOf(task).lines.map((line) =>
    "gives" in line && random.next() < share ? { ...line, gives: nothing } : line,
  );
  return { ...task, metadata: { ...task.metadata, lines: JSON.parse(JSON.stringify(lines)) } };
}

/** @param player resolves conflicts, or obeys the latest instruction. */
const arm = (what: string, player: "expert" | "flawed"): Arm => ({
  what,
  grid: [0, 0.1, 0.2, 0.4, 0.8].map((forgets) => ({ forgets })),
  async measure({ forgets }, seed) {
    const environment = entangledInstructions({ perCategory, seed });
    const act = environment[player]!;
    const random = randomStream(seed).split("forgets");
    const scores = environment.tasks("train").map((task) => {
      const known = forgotten(task, Number(forgets), random.split(task.id));
      const said: Message[] = [];
      for (const _ of linesOf(task).lines)
        said.push({ role: "assistant", content: act(known, said, random) });
      return conversationScores(
        task,
        said.map((m) => m.content),
      );
    });
    const level = (n: number): number => mean(scores.filter((s) => s.level === n).map((s) => Number(s.kept)));
    const memory = mean(scores.map((s) => s.memory));
    const asked = scores.reduce((n, s) => n + s.unauthorised, 0);
    return {
      value: memory - level(3),
      cost: { episodes: scores.length, tokens: 0 },
      more: {
        memory,
        "level 1": level(1),
        "level 2": level(2),
        "level 3": level(3),
        privacy: 1 - scores.reduce((n, s) => n + s.leaked, 0) / asked,
      },
    };
  },
});

export default defineCheck({
  id: "multiturninstruct",
  level: "law",
  claim:
    "The gap between memory and success under conflict is larger for an agent that resolves no conflicts than for one that forgets, however much either forgets.",
  metric: "memory (BLEU-2) less the share of level-3 conversations kept, over 1008 conversations",
  direction: "higher",
  smallestEffect: 0.2,
  tuningSeeds: 3,
  baseline: arm("resolves conflicts, at the forgetfulness that makes its gap widest", "expert"),
  method: arm("obeys what was said last, at the forgetfulness that makes its gap widest", "flawed"),
  notes:
    "Scripted agents only, each with the share of forgotten instructions at which its gap is widest; for the method that is none, and nobody forgets less. Forgetting widens the gap of whoever resolves conflicts as well, since one line is asked back and all of them are to be kept. That a policy in training masters level 1 before level 3 was not tried: a small table meets no conversation twice.",
});
