import { mean } from "../../../common/statistics/statistics.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import {
  type ActiveInputs,
  adamSteps,
  type InputPair,
  initialNetwork,
  pairLoss,
  scoreInputs,
} from "../../../helper/rewardNetwork.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { aspects, type Instruction, obeys, type Reply } from "../../../worlds/aspects.ts";
import { consistency } from "./consistency.ts";
import { adversarialSynonyms, hullVertices, randomSynonyms } from "./convexHull.ts";
import { fusedReward, type KnownReply } from "./rewardFusion.ts";

const [places, values, synonyms] = [6, 3, 4];
const [pairs, steps, batch] = [1500, 500, 32];
/** Demands alone are worth something. No demand is ever about the first place: its last value is an artefact that annotators dislike. */
const world = (seed: number) => aspects({ places, values, synonyms, quality: 0, obedience: 1, seed });
const artefact = values - 1;

const sizes = { inputs: places * values * (1 + synonyms), units: 48 };
/** One input for each demand, and one for each word of the reply. */
const inputsOf = (instruction: Instruction, reply: Reply): ActiveInputs => [
  ...instruction.map(({ place, value }) => place * values + value),
  ...reply.values.map(
    (value, place) => places * values + (place * values + value) * synonyms + reply.synonyms[place]!,
  ),
];

/** Two demands at these places. */
const asking = (at: readonly number[], random: Random): Instruction =>
  at.map((place) => ({ place, value: random.below(values) }));
/** The nearest instruction: one demand asks for another value. */
function near(instruction: Instruction, random: Random): Instruction {
  const changed = random.below(instruction.length);
  const by = 1 + random.below(values - 1);
  return instruction.map((demand, i) =>
    i === changed ? { ...demand, value: (demand.value + by) % values } : demand,
  );
}
const right = (instruction: Instruction, reply: Reply): boolean => instruction.every((d) => obeys(reply, d));

/** A reply without the artefact; the first word for a value in 80 % of the places, or all words alike. */
function drawn(draw: (random: Random) => Reply, random: Random, usual: boolean): Reply {
  const reply = draw(random);
  return {
    values: reply.values.with(0, random.below(artefact)),
    synonyms: reply.synonyms.map((synonym) => (usual && random.next() < 0.8 ? 0 : synonym)),
  };
}
const obeying = (instruction: Instruction, reply: Reply): Reply => ({
  ...reply,
  values: instruction.reduce((all, { place, value }) => all.with(place, value), reply.values),
});

type Repair = "none" | "convex" | "random synonyms" | "fusion" | "cross negatives";

interface TrainingPair {
  readonly instruction: Instruction;
  readonly better: Reply;
  readonly worse: Reply;
}

/** 85 % of the rejected replies carry the artefact, and half of these obey the instruction; the others do not obey it. */
function trainingPairs(
  draw: (random: Random) => Reply,
  askedAt: readonly (readonly number[])[],
  random: Random,
  cross: number,
): TrainingPair[] {
  return Array.from({ length: pairs }, (_, i) => {
    const own = random.split("pair", i);
    const instruction = asking(askedAt[own.below(askedAt.length)]!, own);
    const better = obeying(instruction, drawn(draw, own, true));
    if (own.next() < cross)
      return { instruction, better, worse: obeying(near(instruction, own), drawn(draw, own, true)) };
    let worse = drawn(draw, own, true);
    while (right(instruction, worse)) worse = drawn(draw, own, true);
    if (own.next() < 0.85) {
      const also = own.next() < 0.5 ? obeying(instruction, worse) : worse;
      worse = { ...also, values: also.values.with(0, artefact) };
    }
    return { instruction, better, worse };
  });
}

function trained(data: readonly TrainingPair[], repair: Repair, learningRate: number, random: Random) {
  const theta = initialNetwork(sizes, random.split("weights"));
  const embeddings = random.split("embeddings");
  const corners = Array.from({ length: places * values }, () =>
    hullVertices(Array.from({ length: synonyms }, () => [embeddings.normal(), embeddings.normal()] as const)),
  );
  const inputPair = ({ instruction, better, worse }: TrainingPair): InputPair => ({
    better: inputsOf(instruction, better),
    worse: inputsOf(instruction, worse),
  });
  const changed = (pair: TrainingPair, own: Random): TrainingPair => {
    const change = (reply: Reply, preferred: boolean): Reply => {
      const candidates = (place: number) => corners[place * values + reply.values[place]!]!;
      const rewardOf = (list: readonly number[]): number =>
        scoreInputs(theta, sizes, inputsOf(pair.instruction, { ...reply, synonyms: list })).reward;
      return {
        ...reply,
        synonyms:
          repair === "convex"
            ? adversarialSynonyms(reply.synonyms, preferred, candidates, rewardOf, own)
            : randomSynonyms(reply.synonyms, () => [...Array(synonyms).keys()], own),
      };
    };
    return { ...pair, better: change(pair.better, true), worse: change(pair.worse, false) };
  };
  const augments = repair === "convex" || repair === "random synonyms";
  adamSteps(theta, { steps, learningRate }, (gradient, step) => {
    const own = random.split("step", step);
    const originals = Array.from({ length: batch }, () => data[own.below(data.length)]!);
    const shown = augments ? [...originals, ...originals.map((pair) => changed(pair, own))] : originals;
    pairLoss(theta, sizes, shown.map(inputPair), gradient);
  });
  return theta;
}

const arm = (what: string, repair: Repair): Arm => ({
  what,
  grid: [0.01, 0.03, 0.1, 0.3, 1].map((learningRate) => ({ learningRate })),
  async measure(choice, seed) {
    const random = randomStream(seed);
    const { drawReply, goldOf } = world(seed);
    // two of the five places with demands; three of the ten pairs of places are held out
    const all = Array.from({ length: places - 1 }, (_, a) =>
      Array.from({ length: places - 2 - a }, (_unused, b) => [a + 1, a + b + 2]),
    ).flat();
    const heldOut = Array.from(
      { length: 3 },
      (_, i) => all.splice(random.split("held out", i).below(all.length), 1)[0]!,
    );
    const data = trainingPairs(drawReply, all, random.split("data"), repair === "cross negatives" ? 0.3 : 0);
    const theta = trained(data, repair, Number(choice.learningRate), random.split("train"));

    const scored = (instruction: Instruction, reply: Reply): KnownReply =>
      scoreInputs(theta, sizes, inputsOf(instruction, reply));
    const known = data
      .slice(0, 400)
      .flatMap(({ instruction, better, worse }) => [scored(instruction, better), scored(instruction, worse)]);
    const reward = (instruction: Instruction, reply: Reply): number => {
      const own = scored(instruction, reply);
      return repair === "fusion" ? fusedReward(own, known) : own.reward;
    };
    const items = Array.from({ length: 300 }, (_, i) => {
      const own = random.split("item", i);
      const instruction = asking(heldOut[own.below(3)]!, own);
      const other = near(instruction, own);
      const fresh = (asked: Instruction): Reply => obeying(asked, drawn(drawReply, own, false));
      return { instruction, other, y: fresh(instruction), y2: fresh(other), own };
    });
    const { response, instruction } = consistency(
      items.map((item) => ({
        own: reward(item.instruction, item.y),
        ownCross: reward(item.instruction, item.y2),
        otherCross: reward(item.other, item.y),
        other: reward(item.other, item.y2),
      })),
    );
    const held = trainingPairs(drawReply, heldOut, random.split("held-out pairs"), 0).slice(0, 300);
    const best = items.slice(0, 150).map(({ instruction: asked, y, own }) => {
      const replies = [
        y,
        ...Array.from({ length: 3 }, () => obeying(near(asked, own), drawn(drawReply, own, false))),
        ...Array.from({ length: 4 }, () => drawn(drawReply, own, false)),
      ];
      const said = replies.map((reply) => reward(asked, reply));
      return goldOf(asked, replies[said.indexOf(Math.max(...said))]!) / asked.length;
    });
    return {
      value: response,
      cost: { episodes: pairs, tokens: steps * batch },
      more: {
        C_ins: instruction,
        "accuracy on held-out pairs": mean(
          held.map((pair) =>
            Number(reward(pair.instruction, pair.better) > reward(pair.instruction, pair.worse)),
          ),
        ),
        "share of demands that the best of 8 obeys": mean(best),
      },
    };
  },
});

export default defineCheck({
  id: "contrast-instructions",
  level: "shared",
  claim:
    "Training replies with words replaced by synonyms at the extremes of their convex hull, chosen against the model, make a reward model notice more often that a near instruction asks for something else.",
  metric: "C_res: share of near instructions for which the reward model ranks the matching reply first",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline", "random synonyms"],
  baseline: arm("ranking loss alone", "none"),
  method: arm("ConvexDA", "convex"),
  others: {
    "random synonyms": arm("random synonyms in place of those on the hull", "random synonyms"),
    fusion: arm("RewardFusion", "fusion"),
    "cross negatives": arm(
      "30 % of the rejected replies are right for a near instruction",
      "cross negatives",
    ),
  },
});
