/** Students trained inside a run: what they learn, what they cost, and what they leave alone. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ctx } from "../../src/core/context.ts";
import type { Signal } from "../../src/core/signal.ts";
import type { Data, Feedback, Method } from "../../src/core/slots.ts";
import type { Task } from "../../src/core/types.ts";
import { type Prior, tabularEngine } from "../../src/engine/tabular/engine.ts";
import type { Environment } from "../../src/env/environment.ts";
import { method } from "../../src/method/method.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { plainAscent } from "../../src/train/trainingArm.ts";
import { progress } from "../contracts/soar.ts";

const words = ["red", "green", "blue"];

const asking = (word: string, id: string): Task => ({
  id,
  prompt: [{ role: "user", content: word }],
  metadata: {},
  seed: 0,
});

/** One turn: says the word of its prompt. Trains on "red" alone; "blue" is held out. */
const said: Environment = {
  name: "said",
  summary: "say the word",
  abilities: new Set(),
  roles: ["agent"],
  splits: ["train", "test"],
  limits: { turns: 1, actionTokens: 2 },
  vocabulary: () => words,
  tasks: (split) =>
    Array.from({ length: 4 }, (_, i) => asking(split === "train" ? "red" : "blue", `${split}/${i}`)),
  start: async (task) => ({
    observe: async () => ({ role: "agent", observation: { messages: [] } }),
    act: async ({ content }) => {
      const success = content === task.prompt[0]!.content;
      return { rewards: { said: Number(success) }, end: { kind: "done", reason: "said", success } };
    },
  }),
};

/** One of three words, then the end. */
const prior: Prior = (context, word) => {
  const may = context.at(-1) === "<assistant>" ? words : ["<end>"];
  return may.includes(word) ? 0 : -1e9;
};
const strong = { ...plainAscent, tasks: 4, groupSize: 16, learningRate: 50 } as const;
const student = grpo.build(strong);

function run(slots: Partial<{ data: Data; feedback: Feedback }>, more: Partial<Method> = {}) {
  const recipe = method({
    id: "taught",
    family: "test",
    summary: "s",
    needs: ["fork"],
    models: { student: { from: "policy" } },
    students: { student },
    slots,
  });
  return trainInMemory({
    environment: said,
    method: { ...recipe.build({ ...plainAscent, tasks: 2, groupSize: 8, learningRate: 0 }), ...more },
    engine: tabularEngine({ context: "message", prior }),
    seed: 1,
    iterations: 1,
    contextTokens: 32,
  });
}

const choosing = (ask: (ctx: Ctx) => Promise<void>): Data => ({
  name: "choosing",
  init: () => null,
  async choose(ctx, tasks, state) {
    await ask(ctx);
    return { tasks: tasks.slice(0, 1), next: state };
  },
  observe: async (_ctx, _evidence, state) => state,
});

const taught = async (ctx: Ctx, iterations: number, tasks: readonly (string | Task)[]): Promise<number> => {
  const model = await ctx.model("student").fork("fresh");
  const { success } = await ctx.learn({
    student: "student",
    model,
    tasks,
    iterations,
    measure: ctx.tasks.map((t) => t.id),
  });
  await model.dispose();
  return success;
};

test("a student learns its tasks, and the model that it was forked from stays as it was", async () => {
  const found: number[] = [];
  const data = choosing(async (ctx) => {
    const ids = ctx.tasks.map(({ id }) => id);
    const before = ctx.model("student").version;
    found.push(await taught(ctx, 0, ids), await taught(ctx, 4, ids));
    found.push(await taught(ctx, 4, [asking("green", "made/green")]));
    assert.equal(ctx.model("student").version, before);
    found.push(await taught(ctx, 0, ids));
  });
  const { counters } = await run({ data });
  const [untaught, right, wrong, again] = found as [number, number, number, number];
  assert.equal(right, 1, "four strong steps on the measured tasks");
  assert.ok(untaught < 1 && wrong < 1, "a third by chance; another word teaches nothing");
  assert.equal(again, untaught, "equal tasks, equal randomness");
  // four measurements of 4 tasks; 4 iterations of 4 tasks and of 1 task, 16 attempts each; the run's own 1 × 8
  assert.equal(counters.episodes, 4 * 4 + 4 * 4 * 16 + 4 * 16 + 8);
  assert.equal(counters["tokens.sampled"], counters.episodes! * 2, "a word and the end");
});

test("a proposer is rewarded by its student's progress: the contract of SOAR runs", async () => {
  const signals: Signal[] = [];
  const proposals = new Map<string, string>();
  const feedback: Feedback = async (ctx, experience, notes) => {
    const made = await progress(ctx, experience, notes);
    for (const t of experience.trajectories) proposals.set(t.id, t.turns[0]!.action.content);
    signals.push(...made);
    return made;
  };
  await run({ feedback });
  assert.equal(signals.length, 16, "one for each attempt");
  const worth = (word: (said: string) => boolean): number[] =>
    signals.flatMap((s) =>
      s.kind === "reward" && word(proposals.get(s.about[0]!.trajectory)!) ? [s.value] : [],
    );
  const mean = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;
  const [useful, useless] = [worth((said) => said === "red"), worth((said) => said !== "red")];
  assert.ok(useful.length > 0 && useless.length > 0);
  assert.ok(mean(useful) > mean(useless) + 0.3, `${mean(useful)} against ${mean(useless)}`);
});

test("held-out tasks are out of a student's reach, undeclared students and further models are refused", async () => {
  const asked = (tasks: readonly string[]) =>
    run({ data: choosing(async (ctx) => void (await taught(ctx, 1, tasks))) });
  await assert.rejects(asked(["test/0"]), /unknown name "test\/0"/);
  const data = choosing(async (ctx) => void (await taught(ctx, 1, ["train/0"])));
  await assert.rejects(
    run({ data }, { students: {} }),
    /"student": got a student that the method does not declare/,
  );
  const crowded = { ...student, frozen: { reference: {} } };
  await assert.rejects(run({ data }, { students: { student: crowded } }), /auxiliary or frozen models/);
});

test("a stop ends a student in the middle, and pieces see it", async () => {
  const stopping = new AbortController();
  let seen: AbortSignal | undefined;
  let started = 0;
  const environment: Environment = {
    ...said,
    start: (...args) => {
      if (++started === 40) stopping.abort();
      return said.start(...args);
    },
  };
  const data = choosing(async (ctx) => {
    seen = ctx.stop;
    const model = await ctx.model("student").fork("fresh");
    await ctx.learn({ student: "student", model, tasks: ["train/0"], iterations: 1000 });
  });
  const base = grpo.build(strong);
  const stopped = trainInMemory({
    environment,
    method: {
      ...base,
      models: { student: { from: "policy" } },
      students: { student },
      slots: { ...base.slots, data },
    },
    engine: tabularEngine({ context: "message", prior }),
    seed: 1,
    iterations: 1,
    contextTokens: 32,
    stop: stopping.signal,
  });
  await assert.rejects(stopped, (e) => e === stopping.signal.reason);
  assert.equal(seen?.aborted, true);
  assert.ok(started < 100, `${started} of 16,000 episodes began`);
});
