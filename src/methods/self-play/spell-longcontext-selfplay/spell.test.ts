import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Json } from "../../../core/json.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { depthReader, depthSpeaker, depths } from "./depths.ts";
import { asking, spellLongcontextSelfplay } from "./method.ts";
import { borderline, covers, majority } from "./rewards.ts";
import { aroundBar, harderThan, questionerQuestion, threeRoles, verifierQuestion } from "./threeRoles.ts";

obeysTheLaws(() => depths(1), { garbage: 0.1 });

test("majority: more than half; a tie is none, and nothing is none", () => {
  assert.deepEqual(
    [[true, true, false], [true, false], [], [false]].map((verdicts) => majority(verdicts)),
    [true, false, false, false],
  );
});

test("covers: whole words of the reference in the answer; an empty reference is covered by nothing", () => {
  const cases = [
    ["it is New  York .", "new york"],
    ["yorkshire", "york"],
    ["anything", " "],
    ["york new", "new york"],
  ] as const;
  assert.deepEqual(
    cases.map(([answer, reference]) => covers(answer, reference)),
    [true, false, false, false],
  );
});

test("borderline: 1 at a half, exp(−9/8) at a quarter, 0 at both ends", () => {
  // (¼)² / (2 · (1/6)²) = 18/16
  assert.equal(borderline(0.5), 1);
  assert.ok(Math.abs(borderline(0.25) - Math.exp(-18 / 16)) < 1e-12);
  assert.equal(borderline(0.25), borderline(0.75));
  assert.deepEqual([borderline(0), borderline(1)], [0, 0]);
});

test("aroundBar: a question and an answer", () => {
  assert.deepEqual(aroundBar(" what ? | this "), { question: "what ?", reference: "this" });
  assert.deepEqual(["what ?", "| a", "a |", "a | b | c"].map(aroundBar), Array(4).fill(undefined));
});

interface Says {
  readonly question: string;
  /** Answers with documents, by attempt. */
  readonly answers: readonly string[];
  readonly alone?: string;
  /** The verdict on an answer. */
  readonly verdict: (answer: string) => "YES" | "NO";
  readonly kept?: readonly string[];
}

/** One round with two answers and two verdicts on each. */
async function played({ question, answers, alone = "no", verdict, kept }: Says) {
  const vocabulary = ["docs what | this that no YES NO\n", questionerQuestion, verifierQuestion, harderThan];
  const words = question.split(" ");
  let heard = "";
  const engine = tabularEngine({
    prior: (context, word) => {
      const reply = context.slice(context.lastIndexOf("<assistant>") + 1);
      const verifying = context.includes("reference");
      if (!verifying) heard = context.join(" ");
      const bar = context.lastIndexOf("|");
      const next = verifying ? [verdict(context[bar + 1]!)] : words;
      return word === (next[reply.length] ?? "<end>") ? 50 : 0;
    },
  });
  const model = await engine.create({ id: "policy", seed: 1, vocabulary, contextTokens: 99 });
  const task: Task = { id: "d", prompt: [{ role: "user", content: "docs" }], metadata: {}, seed: 1 };
  const memory = new Map<string, Json>(kept ? [["questions d", kept]] : []);
  const asked: Task[] = [];
  const ctx = ctxOf({
    random: randomStream(1),
    tasks: [task],
    model: () => model,
    memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
    play: async ({ task: made, attempt }) => {
      if (typeof made === "string") throw new Error("a task that was made");
      asked.push(made);
      const content = made.prompt.length === 1 ? alone : answers[attempt]!;
      const turn = turnOf([1], [2], { action: { role: "assistant", content } });
      return [trajectoryOf(`${made.id}#${attempt}`, [turn], { task: made.id })];
    },
  });
  const all = await threeRoles({ groupSize: 2 })(ctx);
  const of = (pattern: RegExp) =>
    all.trajectories.filter(({ id }) => pattern.test(id)).map(({ turns }) => turns[0]!.rewards.role);
  return { ...all, question: of(/question$/)[0], answers: of(/0#\d$/), memory, asked, heard };
}

test("an answer is right by the rule or by the majority, and the question is paid for the share", async () => {
  const rule = await played({ question: "what | this", answers: ["this", "no"], verdict: () => "NO" });
  assert.deepEqual([rule.answers, rule.question], [[1, 0], 1]);
  assert.deepEqual(rule.memory.get("questions d"), ["what"]);
  const voted = await played({ question: "what | this", answers: ["that", "no"], verdict: () => "YES" });
  // all answers right: nothing to learn
  assert.deepEqual([voted.answers, voted.question], [[1, 1], 0]);
  assert.deepEqual(
    rule.units.map(({ group }) => group),
    ["questions", "d/0", "d/0"],
  );
  assert.deepEqual(
    voted.units.map(({ group }) => group),
    ["questions"],
  );
});

test("what needs no documents costs ½, what cannot be parsed 1, and neither is remembered", async () => {
  const needless = await played({
    ...{ question: "what | this", answers: ["this", "no"], alone: "this", verdict: () => "NO" },
  });
  assert.equal(needless.question, -0.5);
  assert.equal(needless.memory.size, 0);
  assert.deepEqual(
    needless.asked.map(({ prompt }) => prompt.length),
    [2, 2, 1],
  );
  const unparsable = await played({ question: "what this", answers: [], verdict: () => "NO" });
  assert.equal(unparsable.question, -1);
  assert.equal(unparsable.asked.length, 0);
  assert.deepEqual(unparsable.stats, { asked: 0 });
});

test("the questioner is told its latest questions, of which three are kept", async () => {
  const { memory, heard } = await played({
    ...{
      question: "what | this",
      answers: ["this", "no"],
      verdict: () => "NO",
      kept: ["this", "that", "no"],
    },
  });
  assert.deepEqual(memory.get("questions d"), ["that", "no", "what"]);
  assert.ok(heard.includes(`${harderThan} this`) || heard.includes("harder"), heard);
});

test("a role's group gets the baseline of that group alone", () => {
  const { advantage } = asking({});
  assert.equal(advantage, undefined); // GRPO's: groups are set by the rollout
});

test("all three roles learn from one batch", async () => {
  const roles = new Set<string>();
  await trainInMemory({
    environment: depths(1),
    engine: tabularEngine({
      features: depthReader,
      prior: (context, word) => {
        if (!context.includes("Write")) return depthSpeaker(context, word);
        const next = ["h2", "|", "found"][context.length - context.lastIndexOf("<assistant>") - 1] ?? "<end>";
        return word === next ? 50 : 0;
      },
    }),
    method: spellLongcontextSelfplay.build({ tasks: 4, groupSize: 8, optimiser: "sgd", learningRate: 1 }),
    seed: 1,
    iterations: 2,
    onIteration: ({ experience }) => {
      for (const { id } of experience.units)
        roles.add(experience.trajectories.find((t) => t.id === id)!.role);
    },
  });
  assert.deepEqual([...roles].sort(), ["agent", "questioner", "verifier"]);
});
