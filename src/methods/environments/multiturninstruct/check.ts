import { mean } from "../../../common/statistics/statistics.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import type { Message, Task } from "../../../core/types.ts";
import { instructionsGiven } from "../../../env/entangled/conversations.ts";
import { entangledInstructions, linesOf, repeatTurn } from "../../../env/entangled/entangled.ts";
import type { Instruction } from "../../../env/entangled/instructions.ts";
import { conversationScores } from "../../../env/entangled/scores.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";

/** Conversations of each of nine categories: 360 in all. */
const perCategory = 40;

/** Replacement for a forgotten line: words that few others share. */
const nothing: Instruction = { kind: "trigger", when: "nothing", reply: "nothing" };

/** Which lines are forgotten: each with this probability, or the older or newer half of the instructions. */
type Forgets = number | "older" | "newer";

/** The task as seen by an agent that forgets these instructions. @param spared index of a line that is never forgotten. */
function forgotten(task: Task, forgets: Forgets, random: Random, spared = -1): Task {
  const half = instructionsGiven / 2;
  const isForgotten = (index: number): boolean => {
    if (index === spared) return false;
    if (forgets === "older") return index < half;
    return forgets === "newer" ? index >= half : random.next() < forgets;
  };
  const lines = linesOf(task).lines.map((line, index) =>
    "gives" in line && isForgotten(index) ? { ...line, gives: nothing } : line,
  );
  return { ...task, metadata: { ...task.metadata, lines: JSON.parse(JSON.stringify(lines)) } };
}

/** The line that is asked back word for word. */
const askedBack = (task: Task): number => {
  const line = linesOf(task).lines[repeatTurn];
  return line && "asks" in line && line.asks.kind === "repeat" ? line.asks.line : -1;
};

const ways: readonly Forgets[] = [0.2, 0.4, 0.8, "older", "newer"];

interface Agent {
  /** Resolves conflicts, or obeys the latest instruction. */
  readonly player: "expert" | "flawed";
  readonly ways: readonly Forgets[];
  /** Never forgets the line that is asked back. */
  readonly spares?: boolean;
}

const arm = (what: string, { player, ways, spares = false }: Agent): Arm => ({
  what,
  grid: ways.map((forgets) => ({ forgets })),
  async measure({ forgets }, seed) {
    const environment = entangledInstructions({ perCategory, seed });
    const act = environment[player]!;
    const random = randomStream(seed).split("forgets");
    const scores = environment.tasks("train").map((task) => {
      const spared = spares ? askedBack(task) : -1;
      const known = forgotten(task, forgets as Forgets, random.split(task.id), spared);
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
    "Between two scripted players, the gap between memory and success under conflict is larger for the one that obeys what was said last than for the one that resolves conflicts, in whichever of five ways the latter forgets.",
  metric: "memory (BLEU-2) less the share of level-3 conversations kept, over 360 conversations",
  direction: "higher",
  smallestEffect: 0.2,
  range: [-1, 1],
  baseline: arm("resolves conflicts, forgetting in the way that makes its gap widest", {
    player: "expert",
    ways,
  }),
  method: arm("obeys what was said last, forgetting as little as makes its gap widest", {
    player: "flawed",
    ways: [0, 0.1, 0.2, 0.4, 0.8],
  }),
  others: {
    sparing: arm("resolves conflicts, and never forgets the line that is asked back", {
      player: "expert",
      ways,
      spares: true,
    }),
  },
  simpler: ["baseline", "sparing"],
  notes:
    "Scripted players only: nothing learns, and nothing is said of any model. It is a check of the score. The player `sparing` knows which line will be asked back, as no agent does; it shows what the gap cannot tell apart, since memory is measured by one line of four.",
});
