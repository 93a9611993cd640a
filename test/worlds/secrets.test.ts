import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { replyProbabilities } from "../../src/diagnose/replyProbabilities.ts";
import { firstChances, secretsEngine, unaidedSuccess } from "../../src/worlds/arms/secrets.ts";
import { formats, secretOf, secrets } from "../../src/worlds/secrets.ts";
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

test("secrets: easier formats hold the right answer among others, and one task shows the same ones again", async () => {
  const world = secrets(options);
  const task = world.tasks("train")[1]!;
  for (const [i, count] of [4, 10, 5].entries()) {
    const posed = { ...task, metadata: { ...task.metadata, format: formats[i]! } };
    const seen = async () => (await (await world.start(posed, randomStream(1))).observe()).observation;
    const { legal = [], messages } = await seen();
    assert.equal(new Set(legal).size, count);
    assert.ok(legal.includes(secretOf(task).join(" ")));
    assert.ok(messages[0]!.content.startsWith(task.prompt[0]!.content));
    assert.deepEqual(await seen(), { ...(await seen()), legal });
  }
  const open = await (await world.start(task, randomStream(1))).observe();
  assert.equal(open.observation.legal, undefined);
});
