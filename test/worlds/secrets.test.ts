import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { replyProbabilities } from "../../src/diagnose/replyProbabilities.ts";
import { firstChances, secretsEngine, unaidedSuccess } from "../../src/worlds/arms/secrets.ts";
import { secretOf, secrets } from "../../src/worlds/secrets.ts";
import { obeysTheLaws } from "../env/laws.ts";

obeysTheLaws(() => secrets({ secrets: 6, lengths: [3, 4] }), { garbage: 0.1 });

const options = { secrets: 4, lengths: [2, 4], vocabulary: 5, success: [0.01, 0.2], seed: 3 } as const;
const policyOf = async () => {
  const world = secrets(options);
  const vocabulary = [...new Set([...(world.vocabulary?.() ?? []), "hint"].flatMap((t) => t.split(" ")))];
  const policy = await secretsEngine(options).create({
    id: "policy",
    vocabulary,
    contextTokens: 64,
    seed: 1,
  });
  return { world, policy };
};

test("secrets: shorter tasks ask for the beginning of the same secret, held-out ones for others", () => {
  const tasks = secrets(options).tasks("train");
  assert.equal(tasks.length, 8);
  assert.deepEqual(secretOf(tasks[0]!), secretOf(tasks[1]!).slice(0, 2));
  assert.equal(tasks[1]!.reference, secretOf(tasks[1]!).join(" "));
  const ids = new Set([...tasks, ...secrets(options).tasks("test")].map(({ prompt }) => prompt[0]!.content));
  assert.equal(ids.size, 16);
});

test("secrets: the untrained policy succeeds as often as each secret's chance says; a shorter one more often", async () => {
  const { world, policy } = await policyOf();
  const chances = firstChances(options);
  for (const chance of chances) assert.ok(chance >= 0.01 && chance <= 0.2);
  for (const task of world.tasks("train")) {
    const [p] = await replyProbabilities(policy, task, [secretOf(task).join(" ")]);
    const want = chances[Number(task.metadata.number)]! ** (secretOf(task).length / 4);
    assert.ok(Math.abs(p! - want) < 1e-5, `${p} for ${want}`);
  }
  const mean = await unaidedSuccess(policy, world);
  const by = [2, 4].flatMap((n) => chances.slice(0, 4).map((chance) => chance ** (n / 4)));
  assert.ok(Math.abs(mean - by.reduce((a, b) => a + b) / 8) < 1e-5);
});

test("secrets: a hint makes its words sure, and the rest stay as hard as they are", async () => {
  const { world, policy } = await policyOf();
  const task = world.tasks("train")[1]!;
  const answer = secretOf(task).join(" ");
  const hinted = {
    ...task,
    prompt: [...task.prompt, { role: "user", content: `hint ${secretOf(task).slice(0, 3).join(" ")}` }],
  } as Task;
  const [p] = await replyProbabilities(policy, hinted, [answer]);
  const [first] = firstChances(options);
  assert.ok(Math.abs(p! - first! ** (1 / 4)) < 1e-3, `${p}`);
});

test("secrets: easier formats show the right answer among others, and a task always shows the same ones", async () => {
  const world = secrets(options);
  const task = world.tasks("train")[1]!;
  const seen = async (format: string) => {
    const posed = { ...task, metadata: { ...task.metadata, format } };
    const { observation } = await (await world.start(posed, randomStream(1))).observe();
    return observation.messages[0]?.content ?? "";
  };
  for (const [format, count] of [
    ["four choice", 4],
    ["ten choice", 10],
  ] as const) {
    const shown = await seen(format);
    const choices = shown.slice("choose ".length).split(" or ");
    assert.equal(new Set(choices).size, count);
    assert.ok(choices.includes(secretOf(task).join(" ")));
    assert.equal(await seen(format), shown);
  }
  const [, ...given] = (await seen("fill in")).split(" ");
  assert.equal(given.filter((word, place) => word === secretOf(task)[place]).length, 3);
  assert.equal(await seen("open"), "");
});

test("secrets: the policy chooses among what is shown in proportion to what it would say, and fills one word", async () => {
  const { policy } = await policyOf();
  const task = secrets(options).tasks("train")[1]!;
  const answer = secretOf(task).join(" ");
  const other = secretOf(task)
    .map((word) => (word === "w0" ? "w1" : "w0"))
    .join(" ");
  const asked = async (content: string) => {
    const prompt = [...task.prompt, { role: "user" as const, content }];
    return (await replyProbabilities(policy, { ...task, prompt }, [answer]))[0]!;
  };
  // options that differ in the first word: right and wrong in the proportion p to (1 − p) / 4
  const p = firstChances(options)[0]! ** (1 / 4);
  const one = await asked(`choose ${answer} or ${other}`);
  assert.ok(Math.abs(one - p / (p + (1 - p) / 4)) < 1e-3, `${one}`);
  const filled = await asked(`fill ${secretOf(task).with(2, "any").join(" ")}`);
  assert.ok(Math.abs(filled - p) < 1e-3, `${filled}`);
});
