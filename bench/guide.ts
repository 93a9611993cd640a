// A guide learns, on the local engine, to write hints for a policy that is reached through an OpenAI-compatible API alone.
//
//     node bench/guide.ts --seeds 8            # seeds in bench/results/guide.jsonl are not run again
//
// The frozen policy knows the plan for any three symptoms that a hint names, and has never learnt to find them in a ticket.
// The guide sees the ticket. It imitates keywords of 40 labelled tickets, then is reinforced by what the frozen policy
// makes of its hints on the others. Success is measured on tickets that neither has seen. Writes bench/results/guide.md.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { meanInterval, pairedInterval } from "../src/common/statistics/statistics.ts";
import type { Interval } from "../src/core/interval.ts";
import type { Model } from "../src/core/model.ts";
import { type Random, randomStream, shuffled } from "../src/core/random.ts";
import type { Task } from "../src/core/types.ts";
import { chatModel } from "../src/engine/chat/chat.ts";
import type { Engine } from "../src/engine/engine.ts";
import type { DecoderSize } from "../src/engine/local/config.ts";
import { localEngine } from "../src/engine/local/index.ts";
import type { Environment } from "../src/env/environment.ts";
import { chatBlackBox, guided } from "../src/env/guided.ts";
import { planOf, tickets } from "../src/env/tickets.ts";
import { method } from "../src/method/method.ts";
import { sft } from "../src/methods/baseline/sft/method.ts";
import { directionalStimulus, pseudoHints } from "../src/methods/memory/directional-stimulus/method.ts";
import { openaiServer } from "../src/serve/openaiServer.ts";
import { evaluate } from "../src/train/evaluate.ts";
import { trainInMemory } from "../src/train/trainInMemory.ts";
import { progress } from "./report.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "8" },
    first: { type: "string", default: "1" },
    school: { type: "string", default: "300" },
    imitation: { type: "string", default: "60" },
    iterations: { type: "string", default: "300" },
    results: { type: "string", default: join(import.meta.dirname, "results", "guide") },
  },
});
const [seeds, first] = [Number(values.seeds), Number(values.first)];
const [school, imitation, iterations] = [
  Number(values.school),
  Number(values.imitation),
  Number(values.iterations),
];

const size: DecoderSize = { width: 64, layers: 2, heads: 2, kvHeads: 2, feedForward: 128 };
const contextTokens = 48;
const hintWords = 3;
const frame = "hint {hint}";
/** Tickets that come with an answer. */
const labelled = 40;

/** Success on the test's tickets. */
interface Run {
  readonly seed: number;
  readonly alone: number;
  readonly random: number;
  readonly imitated: number;
  readonly guided: number;
  readonly named: number;
  readonly calls: number;
  readonly seconds: number;
}

const textOf = (task: Task): string => task.prompt[0]!.content;
const wordsOf = (task: Task): readonly string[] => textOf(task).split(" ");

/** The symptoms of every ticket: what all tickets of its fault have in common. */
function symptomsIn(world: Environment): (task: Task) => readonly string[] {
  const common = new Map<unknown, readonly string[]>();
  for (const split of world.splits)
    for (const task of world.tasks(split)) {
      const { fault } = task.metadata;
      const before = common.get(fault);
      const words = wordsOf(task);
      common.set(fault, before ? before.filter((word) => words.includes(word)) : words);
    }
  return (task) => common.get(task.metadata.fault) ?? [];
}

/** Where the frozen policy went to school: hints name the symptoms, and the ticket under them is somebody else's. */
function schoolOf(
  world: Environment,
  symptoms: (task: Task) => readonly string[],
  seed: number,
): Environment {
  const known = world.tasks("train");
  const retold = (task: Task): Task => {
    const random = randomStream(seed).split("school", task.id);
    const hint = shuffled(symptoms(task), random).join(" ");
    const other = known[random.split("other").below(known.length)]!;
    return {
      ...task,
      prompt: [
        { role: "system", content: frame.replace("{hint}", hint) },
        { role: "user", content: textOf(other) },
      ],
    };
  };
  const { vocabulary } = world;
  return {
    ...world,
    tasks: (split) => world.tasks(split).map(retold),
    vocabulary: () => [...(vocabulary?.() ?? []), "hint"],
  };
}

/** The words of a ticket that go most often with its plan in labelled tickets, in a random order. */
function keywords(known: readonly Task[]): (task: Task, random: Random) => string {
  return (task, random) => {
    const share = (word: string): number => {
      const having = known.filter((other) => wordsOf(other).includes(word));
      return having.filter((other) => planOf(other) === planOf(task)).length / (having.length + 1);
    };
    const best = [...wordsOf(task)].sort((a, b) => share(b) - share(a)).slice(0, hintWords);
    return shuffled(best, random).join(" ");
  };
}

const limit = <T>(work: () => Promise<T>): Promise<T> => work();

async function run(seed: number): Promise<Run> {
  const began = performance.now();
  const engine = localEngine({ threads: 1, size });
  const world = tickets({ faults: 12, symptoms: 9, plans: 6, writers: 4, seed });
  const symptoms = symptomsIn(world);
  const frozen = await trainInMemory({
    environment: schoolOf(world, symptoms, seed),
    method: sft.build({ tasks: 64, learningRate: 3e-3, minibatches: 1 }),
    engine,
    seed,
    iterations: school,
    contextTokens,
  });
  progress(`seed ${seed}: the frozen policy has been to school, ${seconds(began)} s`);
  const server = await openaiServer(frozen.policy, { name: "frozen", maxTokens: 1 });
  try {
    const { openai } = server;
    const chat = chatModel({ model: createOpenAICompatible(openai)(openai.model), concurrency: 64 });
    const blackBox = chatBlackBox(chat, { temperature: 0.7, maxTokens: 1 });
    const train = world.tasks("train");
    const labels = train.slice(0, labelled);
    const pseudoHint = keywords(labels);
    const environment = guided(world, {
      blackBox,
      frame,
      hintTokens: hintWords + 1,
      words: ["hint"],
      pseudoHint: (task, _conversation, random) => pseudoHint(task, random),
    });
    const success = async (agent: Model | ((task: Task) => string)): Promise<number> => {
      const asked = { environment, agent, split: "test", mode: "sampled", tasks: 1000, limit } as const;
      const { result } = await evaluate({ ...asked, random: randomStream(seed).split("measure") });
      return result.success.mean;
    };
    const imitating = await trainInMemory({
      environment: { ...environment, tasks: (split) => (split === "train" ? labels : world.tasks(split)) },
      method: method({
        id: "pseudo-hints",
        family: "memory",
        summary: "hints imitated",
        slots: pseudoHints(),
      }).build({ tasks: 40, learningRate: 3e-3, minibatches: 1 }),
      engine,
      seed,
      iterations: imitation,
      contextTokens,
    });
    const imitated = await success(imitating.policy);
    progress(`seed ${seed}: hints imitated, ${imitated.toFixed(2)}, ${seconds(began)} s`);
    const reinforced = await trainInMemory({
      environment,
      method: directionalStimulus.build({ tasks: 8, groupSize: 8, learningRate: 1e-3, minibatches: 1 }),
      engine: goingOn(engine, imitating.policy),
      seed,
      iterations,
      contextTokens,
      onIteration: (_done, { iteration }) =>
        iteration % 10 === 0
          ? progress(`seed ${seed}: iteration ${iteration}, ${seconds(began)} s`)
          : undefined,
    });
    const { calls } = chat.spent();
    const guidedBy = await success(reinforced.policy);
    const any = randomStream(seed).split("any");
    return {
      seed,
      alone: await success(() => ""),
      random: await success((task) =>
        shuffled(wordsOf(task), any.split(task.id)).slice(0, hintWords).join(" "),
      ),
      imitated,
      guided: guidedBy,
      named: await success((task) => symptoms(task).join(" ")),
      calls,
      seconds: (performance.now() - began) / 1000,
    };
  } finally {
    await server.close();
    await engine.dispose();
  }
}

/** An engine whose fresh policy is one that has learnt already. */
const goingOn = (engine: Engine, policy: Model): Engine => ({ ...engine, create: async () => policy });

const seconds = (began: number): string => ((performance.now() - began) / 1000).toFixed(0);

const file = `${values.results}.jsonl`;
const kept: Run[] = existsSync(file)
  ? readFileSync(file, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line): Run => JSON.parse(line))
  : [];
for (let seed = first; seed < first + seeds; seed++) {
  if (kept.some((done) => done.seed === seed)) continue;
  const done = await run(seed);
  kept.push(done);
  appendFileSync(file, `${JSON.stringify(done)}\n`);
  progress(`seed ${seed}: alone ${done.alone.toFixed(2)}, guided ${done.guided.toFixed(2)}`);
}

const runs = kept.filter(({ seed }) => seed >= first && seed < first + seeds).sort((a, b) => a.seed - b.seed);
const two = (x: number): string => x.toFixed(2).replace("-", "−");
const said = ({ mean, low, high }: Interval): string => `${two(mean)} [${two(low)}, ${two(high)}]`;
type Arm = "alone" | "random" | "imitated" | "guided" | "named";
const of = (arm: Arm): number[] => runs.map((one) => one[arm]);
const arms: readonly (readonly [Arm, string])[] = [
  ["alone", "the frozen policy alone"],
  ["random", "three words of the ticket as a hint"],
  ["imitated", `a guide that imitates keywords of ${labelled} labelled tickets`],
  ["guided", "the same guide, reinforced"],
  ["named", "the three symptoms as a hint: the most that there is to be had"],
];
const rows = arms.map(([arm, what]) => {
  const gain = arm === "alone" ? "" : said(pairedInterval(of(arm), of("alone")));
  return `| ${what} | ${said(meanInterval(of(arm)))} | ${gain} |`;
});
writeFileSync(
  `${values.results}.md`,
  `# A guide for a frozen policy

Success on 120 tickets that neither has seen, mean over ${runs.length} seeds with 95 % t intervals, and what it is above the
frozen policy alone on the same seeds. The frozen policy, a decoder of the local engine, is reached through its
OpenAI-compatible endpoint alone: ${Math.round(runs.reduce((sum, { calls }) => sum + calls, 0) / runs.length).toLocaleString("en")} calls a seed until the guide has learnt.

| | success | above alone |
| --- | --- | --- |
${rows.join("\n")}

Reinforced above imitated: ${said(pairedInterval(of("guided"), of("imitated")))}. Seeds ${runs.map(({ seed }) => seed).join(", ")};
${Math.round(runs.reduce((sum, one) => sum + one.seconds, 0) / runs.length)} s a seed on one thread of ${cpus()[0]?.model ?? "an unknown processor"}.
Written by \`node bench/guide.ts\`.
`,
);
process.stdout.write(readFileSync(`${values.results}.md`, "utf8"));
