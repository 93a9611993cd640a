// A judge of pairs that is trained on this machine: a transformer of the local engine that imitates a teacher's verdicts.
//
//     node bench/judge-student.ts              # what lies in bench/results/judge-student.jsonl is not run again
//     node bench/judge-student.ts --seeds 100  # trials: nothing is written
//
// The teacher stands for a large judge: the careful raters of the arena "instructions", who know what a reply is truly worth. The student sees
// requests, two replies and the teacher's choice; held-out requests mention sets of things that no request in training mentions.
// Beside it on the same pairs: a reward model, the same transformer with a head that is trained on the teacher's choices; one with three
// heads, for what the teacher goes by, trained on verdicts about each of the same replies; logistic regression on words, as that of
// `whetstone judge --distil`; and whichever reply is longer.
// Writes bench/results/judge-student.md.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { utility, wordsIn } from "../src/arenas/instructions/judging.ts";
import { type Instruction, politeWords, things } from "../src/arenas/instructions/tasks.ts";
import { instructions } from "../src/arenas/instructions/world.ts";
import { replaceFile } from "../src/common/files/files.ts";
import { sigmoid } from "../src/common/statistics/logistic.ts";
import { mean, meanInterval } from "../src/common/statistics/statistics.ts";
import { type Random, randomStream } from "../src/core/random.ts";
import type { Message, Task } from "../src/core/types.ts";
import { localEngine } from "../src/engine/local/index.ts";
import { defineEnvironment } from "../src/env/environment.ts";
import { calibrationCurve, expectedCalibrationError } from "../src/evaluator/calibration.ts";
import { judgedItem } from "../src/evaluator/judgedItem.ts";
import type { Labels, PairLabel, ReplyLabel } from "../src/evaluator/labels.ts";
import { yesAndNo, yesProbability } from "../src/evaluator/yesProbability.ts";
import { difference } from "../src/helper/bradleyTerry.ts";
import { fitLogistic, oddsOf } from "../src/helper/logisticRegression.ts";
import { sft } from "../src/methods/baseline/sft/method.ts";
import { featuresOf } from "../src/train/fittedJudge.ts";
import { headsJudge, trainRewardHeads } from "../src/train/rewardHeads.ts";
import { trainInMemory } from "../src/train/trainInMemory.ts";
import { keptRows } from "./keptRows.ts";
import { progress } from "./report.ts";

/** Two replies to one request, and the probability with which the teacher prefers the first. */
interface Pair {
  readonly task: Task<Instruction>;
  readonly asked: string;
  readonly first: string;
  readonly second: string;
  readonly teacher: number;
}

const students = [
  "the longer reply",
  "logistic regression",
  "transformer",
  "reward model",
  "reward model, three heads",
] as const;

interface Row {
  readonly seed: number;
  readonly pairs: number;
  readonly student: (typeof students)[number];
  /** Share of held-out pairs with the teacher's choice, and the expected calibration error against that choice. */
  readonly agreement: number;
  readonly calibration: number;
  readonly trainSeconds: number;
  /** Of a verdict, asked in both orders. */
  readonly ms: number;
}

const sharpness = 8;
const sizes = [500, 2000, 6000] as const;
const heldOut = 600;
const size = { width: 96, layers: 2, heads: 4, kvHeads: 4, feedForward: 192 };
/** Passes over the pairs, and most updates: beyond those, what more pairs bring is not more training. */
const training = { epochs: 12, most: 1500, tasks: 32, learningRate: 2e-3 };
const results = join(import.meta.dirname, "results/judge-student.jsonl");

const { values } = parseArgs({ options: { seeds: { type: "string", default: "1,2,3" } } });
const seeds = values.seeds.split(",").map(Number);
const isTrial = seeds.some((seed) => seed >= 100);

const world = instructions();
const textOf = (task: Task): string => task.prompt.map(({ content }) => content).join(" ");

/** Replies of the flawed player, and in a quarter of the places the ideal one; pairs that the teacher cannot tell apart are left out. */
async function pairsOf(split: string, count: number, random: Random): Promise<readonly Pair[]> {
  const tasks = world.tasks(split) as readonly Task<Instruction>[];
  const reply = async (task: Task<Instruction>, own: Random): Promise<string> => {
    const player = own.next() < 0.25 ? world.expert! : world.flawed!;
    return await player(task, [], own);
  };
  const pairs: Pair[] = [];
  for (let at = 0; pairs.length < count; at++) {
    const own = random.split("pair", at);
    const task = tasks[own.below(tasks.length)]!;
    const [first, second] = [await reply(task, own.split(1)), await reply(task, own.split(2))];
    const ahead = utility(task.metadata, first) - utility(task.metadata, second);
    if (ahead === 0) continue;
    pairs.push({ task, asked: textOf(task), first, second, teacher: sigmoid(sharpness * ahead) });
  }
  return pairs;
}

const question = (asked: string, first: string, second: string): readonly Message[] => [
  { role: "user", content: `${asked} first ${first} second ${second}` },
];

/** Its tasks are the pairs in both orders; its expert says what the teacher chooses. */
function judging(pairs: readonly Pair[]) {
  const tasks = pairs.flatMap(({ asked, first, second, teacher }, i) => [
    { id: `${i}a`, prompt: question(asked, first, second), metadata: { yes: teacher > 0.5 }, seed: i },
    { id: `${i}b`, prompt: question(asked, second, first), metadata: { yes: teacher < 0.5 }, seed: i },
  ]);
  return defineEnvironment<{ readonly yes: boolean }>({
    name: "verdicts",
    summary: "is the first of two replies the better one?",
    abilities: new Set(["expert"] as const),
    roles: ["agent"],
    splits: ["train"],
    limits: { turns: 1, actionTokens: 1 },
    vocabulary: () => [...world.vocabulary!(), "first second", yesAndNo.yes, yesAndNo.no],
    tasks: () => tasks,
    expert: ({ metadata }) => (metadata.yes ? yesAndNo.yes : yesAndNo.no),
    start: async ({ metadata }) => ({
      observe: async () => ({ role: "agent", observation: { messages: [] } }),
      act: async ({ content }) => ({
        rewards: { outcome: Number(content === (metadata.yes ? yesAndNo.yes : yesAndNo.no)) },
        end: { kind: "done", reason: "judged" },
      }),
    }),
  });
}

/** What a student says of pairs that it has not seen. */
async function measured(
  test: readonly Pair[],
  says: (pair: Pair) => Promise<number> | number,
): Promise<Pick<Row, "agreement" | "calibration" | "ms">> {
  const began = performance.now();
  const said: number[] = [];
  for (const pair of test) said.push(await says(pair));
  const ms = (performance.now() - began) / test.length;
  const chosen = test.map(({ teacher }) => Number(teacher > 0.5));
  return {
    agreement: mean(said.map((p, i) => (p === 0.5 ? 0.5 : Number(p > 0.5 === (chosen[i] === 1))))),
    calibration: expectedCalibrationError(calibrationCurve(said, chosen)),
    ms,
  };
}

async function transformer(seed: number, train: readonly Pair[], test: readonly Pair[]) {
  const engine = localEngine({ threads: 1, size });
  const began = performance.now();
  try {
    const { tasks, epochs, most, learningRate } = training;
    const { policy } = await trainInMemory({
      environment: judging(train),
      method: sft.build({ tasks, learningRate }),
      engine,
      seed,
      iterations: Math.min(most, Math.ceil((2 * epochs * train.length) / tasks)),
      contextTokens: 64,
    });
    const trainSeconds = (performance.now() - began) / 1000;
    const yes = async (asked: string, first: string, second: string): Promise<number> =>
      (await yesProbability(policy, question(asked, first, second)))!;
    const row = await measured(test, async ({ asked, first, second }) => {
      const [forward, backward] = [await yes(asked, first, second), await yes(asked, second, first)];
      return (forward + 1 - backward) / 2;
    });
    return { ...row, trainSeconds };
  } finally {
    await engine.dispose();
  }
}

/** What the teacher goes by, as labels of a single reply: the right things, in the right order, in the right tone. */
function verdicts(
  { metadata: { asked, tone } }: Task<Instruction>,
  prompt: string,
  reply: string,
): ReplyLabel[] {
  const words = wordsIn(reply);
  const named = words.filter((word) => things.includes(word));
  const found = asked.filter((thing) => named.includes(thing));
  const places = found.map((thing) => named.indexOf(thing));
  const isPolite = words.some((word) => politeWords.some((one) => one === word));
  const rightTone = (tone !== "polite" || isPolite) && (tone !== "brief" || !isPolite);
  const said = {
    things: found.length === asked.length && new Set(named).size === asked.length,
    order: places.every((place, i) => i === 0 || places[i - 1]! < place),
    tone: rightTone,
  };
  return Object.entries(said).map(([aspect, isRight]) => ({ prompt, reply, aspect, label: isRight ? 1 : 0 }));
}

async function rewardModel(seed: number, labels: Labels, pairs: number, test: readonly Pair[]) {
  const engine = localEngine({ threads: 1, size });
  const began = performance.now();
  const { epochs, most, learningRate, tasks } = training;
  try {
    const batch = labels.kind === "pairs" ? tasks / 2 : tasks;
    const steps = Math.min(most, Math.ceil((2 * epochs * pairs) / tasks));
    const trained = await trainRewardHeads({
      ...{ engine, labels, seed, steps, batch, learningRate, contextTokens: 64 },
    });
    const trainSeconds = (performance.now() - began) / 1000;
    const judge = headsJudge(trained.model, trained);
    const call = { random: randomStream(seed) };
    const row = await measured(
      test,
      async ({ asked, first, second }) =>
        (await judge.compare(judgedItem(asked, first, "first"), judgedItem(asked, second, "second"), call))!,
    );
    return { ...row, trainSeconds };
  } finally {
    await engine.dispose();
  }
}

async function regression(train: readonly Pair[], test: readonly Pair[]) {
  const began = performance.now();
  const x = ({ asked, first, second }: Pair) =>
    difference(featuresOf(asked, first), featuresOf(asked, second));
  const weights = fitLogistic(
    train.map((pair) => ({ x: x(pair), y: pair.teacher, weight: 1 })),
    new Map(),
    { strength: 1e-3, passes: 300, learningRate: 0.05 },
  );
  const trainSeconds = (performance.now() - began) / 1000;
  return { ...(await measured(test, (pair) => sigmoid(oddsOf(weights, x(pair))))), trainSeconds };
}

const choice = ({ asked, first, second, teacher }: Pair): PairLabel => ({
  ...{ prompt: asked, a: first, b: second },
  preferred: teacher > 0.5 ? "a" : "b",
});
const aspects = ({ task, asked, first, second }: Pair): readonly ReplyLabel[] => [
  ...verdicts(task, asked, first),
  ...verdicts(task, asked, second),
];

const longer = ({ first, second }: Pair): number => {
  const count = (text: string): number => text.split(/\s+/).length;
  return sigmoid(count(first) - count(second));
};

const rows = isTrial ? [] : [...keptRows<Row>(results)];
for (const seed of seeds) {
  const random = randomStream("judge student").split(seed);
  const test = await pairsOf("test", heldOut, random.split("test"));
  const all = await pairsOf("train", Math.max(...sizes), random.split("train"));
  for (const pairs of sizes) {
    const train = all.slice(0, pairs);
    const trained: Record<Row["student"], () => Promise<Omit<Row, "seed" | "pairs" | "student">>> = {
      "the longer reply": async () => ({ trainSeconds: 0, ...(await measured(test, longer)) }),
      "logistic regression": () => regression(train, test),
      transformer: () => transformer(seed, train, test),
      "reward model": () => rewardModel(seed, { kind: "pairs", labels: train.map(choice) }, pairs, test),
      "reward model, three heads": () =>
        rewardModel(seed, { kind: "replies", labels: train.flatMap(aspects) }, pairs, test),
    };
    for (const student of students) {
      if (rows.some((row) => row.seed === seed && row.pairs === pairs && row.student === student)) continue;
      const made: Row = { seed, pairs, student, ...(await trained[student]()) };
      rows.push(made);
      if (!isTrial) appendFileSync(results, `${JSON.stringify(made)}\n`);
      const { agreement, calibration, trainSeconds, ms } = made;
      progress(
        `seed ${seed}, ${pairs} pairs, ${student}: ${(100 * agreement).toFixed(1)} %, error ${calibration.toFixed(3)}, ${trainSeconds.toFixed(0)} s, ${ms.toFixed(1)} ms`,
      );
    }
  }
}

const cells = (some: readonly Row[]): string[] => {
  const of = (key: "agreement" | "calibration", scale: number, digits: number): string => {
    const { mean: m, low, high } = meanInterval(some.map((row) => scale * row[key]));
    return `${m.toFixed(digits)} [${Math.max(0, low).toFixed(digits)}, ${Math.min(scale, high).toFixed(digits)}]`;
  };
  return [
    of("agreement", 100, 1),
    of("calibration", 1, 3),
    mean(some.map((row) => row.trainSeconds)).toFixed(0),
    mean(some.map((row) => row.ms)).toFixed(1),
  ];
};
const inOrder = rows.toSorted(
  (a, b) => a.pairs - b.pairs || students.indexOf(a.student) - students.indexOf(b.student),
);
const table = [...Map.groupBy(inOrder, ({ pairs, student }) => `| ${pairs} | ${student} |`)].map(
  ([head, some]) => `${head} ${cells(some).join(" | ")} |`,
);
const text = [
  "# A judge that is trained here",
  "",
  `Written by \`node bench/judge-student.ts\`: ${new Set(rows.map(({ seed }) => seed)).size} seeds of data and weights, ${heldOut} held-out pairs each; means with 95 % t intervals over seeds. The transformer has two layers of width ${size.width}; it is trained from random weights on one thread, and says YES or NO to two replies. A reward model has a head in place of that, and is trained on the same choices; one with three heads is told of each of the same replies whether things, order and tone are right, and compares by their mean. Agreement: share of held-out pairs with the teacher's choice, in %. Error: expected calibration error against that choice.`,
  "",
  "| pairs | student | agreement | error | training, s | a verdict, ms |",
  "| --: | --- | --: | --: | --: | --: |",
  ...table,
  "",
].join("\n");
if (!isTrial) await replaceFile(join(import.meta.dirname, "results/judge-student.md"), text);
console.log(text);
