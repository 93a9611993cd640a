import { mean } from "../../../common/statistics/statistics.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import {
  aspects,
  demandText,
  type Instruction,
  instructionText,
  obeys,
  type Reply,
  replyText,
} from "../../../worlds/aspects.ts";
import type { InstructionFunction } from "./checkable.ts";
import { type MaplOptions, multiLevelReward } from "./method.ts";

const [places, values, pairs] = [6, 3, 200];
const world = (seed: number) => aspects({ places, values, quality: 0.7, obedience: 1.5, seed });

const valuesIn = (reply: string): Reply => ({
  values: reply.split(" ").map((word) => Number(word[1])),
  synonyms: [],
});
/** One kind of instruction for each place: it asks for the value that the reply has there, or for another one. */
const functions = Array.from(
  { length: places },
  (_, place): InstructionFunction =>
    (reply, obeyed, random) => {
      const own = valuesIn(reply).values[place]!;
      const value = obeyed ? own : (own + 1 + random.below(values - 1)) % values;
      const demand = { place, value };
      return { text: demandText(demand), obeys: (other) => obeys(valuesIn(other), demand) };
    },
);

const exchange = (instruction: Instruction, reply: Reply) => ({
  asked: instructionText(instruction),
  replied: replyText(reply),
});

const arm = (what: string, options: MaplOptions): Arm => ({
  what,
  grid: [3e-3, 0.01, 0.03, 0.1, 0.3].map((strength) => ({ strength })),
  async measure(choice, seed) {
    const random = randomStream(seed);
    const { drawInstruction, drawReply, goldOf, label } = world(seed);
    const rows = Array.from({ length: pairs }, (_, i) => {
      const own = random.split("pair", i);
      // base pairs carry no demand or one
      const pair = label(drawInstruction(own, own.below(2)), drawReply(own), drawReply(own), own);
      const x = {
        first: exchange(pair.instruction, pair.chosen),
        second: exchange(pair.instruction, pair.rejected),
      };
      return { x, y: 1, weight: 1 };
    });
    const reward = multiLevelReward({
      functions,
      passes: 400,
      learningRate: 0.1,
      strength: Number(choice.strength),
      ...options,
    })(random.split("fit"));
    await reward.fit(rows);

    const accuracy = async (demands: number): Promise<number> => {
      const fresh = Array.from({ length: 1000 }, (_, i) => {
        const own = random.split("fresh", demands, i);
        return [drawInstruction(own, demands), drawReply(own), drawReply(own)] as const;
      });
      const said = await reward.predict(
        fresh.map(([asked, a, b]) => ({ first: exchange(asked, a), second: exchange(asked, b) })),
      );
      return mean(
        fresh.map(([asked, a, b], i) => {
          const margin = goldOf(asked, a) - goldOf(asked, b);
          return said[i] === 0 || margin === 0 ? 0.5 : Number(said[i]! > 0 === margin > 0);
        }),
      );
    };
    const best = async (own: Random): Promise<number> => {
      const asked = drawInstruction(own, 3);
      const replies = Array.from({ length: 16 }, () => drawReply(own));
      const said = await reward.predict(replies.map((reply) => ({ first: exchange(asked, reply) })));
      return goldOf(asked, replies[said.indexOf(Math.max(...said))]!);
    };
    const bests = Array.from({ length: 200 }, (_, i) => best(random.split("best", i)));
    return {
      value: await accuracy(3),
      cost: { episodes: pairs, tokens: 0 },
      more: {
        "accuracy without demands": await accuracy(0),
        "accuracy, 1 demand": await accuracy(1),
        "gold utility of the best of 16, 3 demands": mean(await Promise.all(bests)),
      },
    };
  },
});

export default defineCheck({
  id: "mapl",
  level: "shared",
  simpler: ["baseline"],
  claim:
    "With preferences between instructions and between pairs, a reward model that has only seen requests with at most one instruction ranks replies to three instructions better than with comparisons of replies alone.",
  metric: "share of fresh pairs of replies to three instructions that the reward model ranks as gold does",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  baseline: arm("comparisons of replies alone", { intra: 0, inter: 0 }),
  method: arm("both further levels", {}),
  others: {
    "intra-sample": arm("with preferences between instructions alone", { inter: 0 }),
    "inter-sample": arm("with preferences between pairs alone", { intra: 0 }),
  },
});
