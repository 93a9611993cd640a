import { mean } from "../../../common/statistics/statistics.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Environment } from "../../../env/environment.ts";
import { type BlackBox, guided } from "../../../env/guided.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { type EvaluateOptions, evaluate } from "../../../train/evaluate.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent } from "../../../train/trainingArm.ts";
import { answers, rightOf } from "../../../worlds/answers.ts";
import { directionalStimulus, pseudoHints } from "./method.ts";

const [questions, keywords] = [12, 20];
/** Questions with a reference answer, from which hints are taken. */
const labelled = 5;
/** Hints per RL iteration, and number of iterations. */
const [tasks, groupSize, iterations] = [8, 8, 25];

/** A frozen model: right with probability 0.9 under the right keyword, 0.3 without a hint, 0.1 under a wrong one. */
const frozen: BlackBox = ({ task, hint, seed }) => {
  const [right = ""] = rightOf(task);
  const chance = hint === right ? 0.9 : hint === "" ? 0.3 : 0.1;
  return randomStream(seed).next() < chance ? right : "none";
};

const world = (seed: number): Environment =>
  guided(answers({ questions, vocabulary: keywords, right: 1, seed }), {
    blackBox: frozen,
    hintTokens: 1,
    pseudoHint: (task) => rightOf(task)[0]!,
  });

const imitation = method({
  id: "pseudo-hints",
  family: "memory",
  summary: "hints taken from reference answers, imitated",
  slots: pseudoHints(),
});

/** Success with a policy's hints: every question 40 times. */
async function success(agent: EvaluateOptions["agent"], random: Random, environment: Environment) {
  const rounds = Array.from({ length: 40 }, (_, round) =>
    evaluate({
      environment,
      agent,
      split: "train",
      mode: "sampled",
      tasks: questions,
      random: random.split("round", round),
      limit: (work) => work(),
    }),
  );
  return mean((await Promise.all(rounds)).map(({ result }) => result.success.mean));
}

interface Stages {
  readonly imitate: boolean;
  readonly reinforce: boolean;
}

const arm = (what: string, { imitate, reinforce }: Stages): Arm => ({
  what,
  grid: (reinforce ? [10, 30, 100] : [3, 10, 30]).map((learningRate) => ({ learningRate })),
  async measure(choice, seed) {
    const environment = world(seed);
    const rate = Number(choice.learningRate);
    const engine = tabularEngine({ prior: (_context, word) => (/^a\d+$/.test(word) ? 0 : -1e9) });
    const few = { ...environment, tasks: (split: string) => environment.tasks(split).slice(0, labelled) };
    const first = await trainInMemory({
      environment: few,
      engine,
      method: imitation.build({ ...plainAscent, tasks: labelled, learningRate: reinforce ? 10 : rate }),
      seed,
      iterations: imitate ? 40 : 0,
    });
    const { policy, counters, curve } = await trainInMemory({
      environment,
      engine: { ...engine, create: async () => first.policy },
      method: directionalStimulus.build({
        ...plainAscent,
        learningRate: rate,
        tasks,
        groupSize,
      }),
      seed,
      iterations: reinforce ? iterations : 0,
    });
    const random = randomStream(seed).split("measure");
    const after = await success(imitate || reinforce ? policy : () => "", random, environment);
    const practice = curve.map((m) => m.success ?? Number.NaN);
    return {
      value: reinforce ? mean(practice) : after,
      cost: { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 },
      curve: practice,
      more: { after },
    };
  },
});

export default defineCheck({
  id: "directional-stimulus",
  level: "shared",
  claim:
    "A guide that imitated the hints of five references before it is reinforced makes a frozen model succeed more often, over the calls of its practice, than one that is only reinforced.",
  metric: "success of the frozen model, mean over 1600 calls of practice",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  baseline: arm("reinforced only", { imitate: false, reinforce: true }),
  method: arm("hints imitated, then reinforced", { imitate: true, reinforce: true }),
  others: {
    imitated: arm("hints imitated, never reinforced", { imitate: true, reinforce: false }),
    none: arm("no hint", { imitate: false, reinforce: false }),
  },
  simpler: ["baseline", "imitated", "none"],
  notes:
    "Five of twelve questions have a reference to take a hint from; imitation reads them 200 times and asks the frozen model nothing, so the method has information that its opponent lacks. Arms without practice are measured by what they end with. On a table nothing learnt of the five reaches the other seven, so imitation alone ends near 5/12 · 0.9 + 7/12 · 0.14 = 0.457, and the earlier design, against it, could not be lost: 0.892 after 2560 calls, where reinforcement alone reached 0.889 as well.",
});
