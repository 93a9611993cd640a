import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Ctx, InnerRun } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import type { Update } from "../../../core/slots.ts";
import type { Task, Unit } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent } from "../../../train/trainingArm.ts";
import { studentOf, taught } from "./method.ts";
import { progress, promoting } from "./progress.ts";
import { fromTemplate, knowsNothing, placeIn, questions, templateWords, wordOf } from "./sources.ts";
import { problemsOf, questionAndAnswer, type ReadProblems, teacherQuestion, teaching } from "./teaching.ts";

obeysTheLaws(() => questions(1), { garbage: 0.05 });

const task = (id: string): Task => ({
  id,
  prompt: [{ role: "user", content: "hard" }],
  metadata: {},
  seed: 1,
});

/** A text is its own problem, and "hm" none. */
const plain: ReadProblems = (_ctx, text, id) => (text === "hm" ? [] : [task(`${id} ${text}`)]);

test("questionAndAnswer: what comes before and after the last answer; anything else is malformed", () => {
  const ctx = ctxOf({ random: randomStream(1), tasks: [task("a")] });
  const [made] = questionAndAnswer(ctx, "what answer is 2 answer 3 4", "x");
  assert.deepEqual([made?.id, made?.prompt[0]?.content, made?.reference], ["x", "what answer is 2", "3 4"]);
  for (const text of ["", "what is 2", "answer 3", "what answer", " answer "])
    assert.deepEqual(questionAndAnswer(ctx, text, "x"), [], text);
});

const unit = (k: number): Unit => ({ id: `d${k}`, group: "0", members: [`d${k}/0`, `d${k}/1`] });
/** Two datasets of two texts each. */
const written = (texts: readonly string[]) => ({
  trajectories: texts.map((content, i) =>
    trajectoryOf(`d${Math.floor(i / 2)}/${i % 2}`, [
      turnOf([1], [2], { action: { role: "assistant", content } }),
    ]),
  ),
  units: [unit(0), unit(1)],
});

/** A context whose students succeed as the tasks say, by the text of their problems; it keeps what was asked for. */
function classroom(gains: Readonly<Record<string, number>>, memory = new Map<string, Json>()) {
  const learnt: InnerRun[] = [];
  const policy = {
    id: "policy",
    fork: async () => ({ id: "copy", dispose: async () => {} }),
  } as unknown as Model;
  const ctx: Ctx = ctxOf({
    tasks: [task("h0"), task("h1")],
    model: () => policy,
    memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
    learn: async (run) => {
      learnt.push(run);
      const texts = run.tasks.map((t) => String((t as Task).id.split(" ").at(-1)));
      return { success: 0.1 + texts.reduce((sum, text) => sum + (gains[text] ?? 0), 0) };
    },
  });
  return { ctx, learnt, memory, policy };
}

test("progress: what a dataset gains over the student as it is, on the same hard tasks, once per dataset", async () => {
  const { ctx, learnt, memory } = classroom({ good: 0.2, bad: -0.05 });
  const experience = written(["good", "bad", "hm", "hm"]);
  const signals = await progress({ iterations: 3, read: plain, repeats: 2 })(ctx, experience, {});
  const told = signals.map((s) => (s.kind === "reward" ? [s.about[0]!.trajectory, s.value] : []));
  assert.equal(told[0]![0], "d0/0");
  assert.ok(Math.abs(Number(told[0]![1]) - 0.15) < 1e-12);
  assert.deepEqual(told[1], ["d1/0", 0], "nothing to learn from, nothing spent");
  assert.deepEqual(
    learnt.map(({ tasks, iterations, mode, measure }) => [tasks.length, iterations, mode, measure]),
    [
      [0, 0, "greedy", ["h0", "h1"]],
      [2, 3, "greedy", ["h0", "h1"]],
      [2, 3, "greedy", ["h0", "h1"]],
    ],
  );
  const ids = learnt.slice(1).map(({ tasks }) => (tasks[0] as Task).id);
  assert.notEqual(ids[0], ids[1], "repeats draw other randomness");
  assert.deepEqual(memory.get("soar"), { before: 0.1 });
});

test("promoting: the policy learns the best dataset once the mean of the last iterations is above the threshold", async () => {
  const { ctx, learnt, memory, policy } = classroom({});
  const update: Update = async () => ({ steps: 1 });
  const promote = promoting(update, { iterations: 3, read: plain, threshold: 0.1, over: 2 });
  const after = async (first: number, second: number) => {
    const annotated = {
      ...written(["a", "b", "c", "hm"]),
      ...{ notes: {}, signals: [] },
      channels: {
        progress: [
          { at: { trajectory: "d0/0" }, value: first },
          { at: { trajectory: "d1/0" }, value: second },
        ],
      },
    };
    return promote(ctx, undefined as never, [], annotated);
  };
  assert.equal((await after(0.4, 0.8)).promoted, 0, "one iteration is too few");
  // means 0.6 and −0.3: 0.15 > 0.1, and the second dataset is the better one
  const stats = await after(-0.7, 0.1);
  assert.deepEqual([stats.promoted, stats.readable, stats.steps], [1, 0.75, 1]);
  assert.equal(learnt.length, 1);
  assert.equal(learnt[0]!.model, policy);
  assert.deepEqual(
    learnt[0]!.tasks.map((t) => (t as Task).id),
    ["d1/0 copy 0 c"],
  );
  assert.equal((await after(-0.2, -0.1)).promoted, 0, "−0.3 and −0.15");
  assert.deepEqual(memory.get("soar"), {
    before: null,
    recent: [-0.3, -0.15000000000000002],
  });
});

test("sources: a template's problems have the source's answers; the others are wrong but for half of the last one's", () => {
  const made = fromTemplate(7, "source-2 steps-3", "x");
  assert.equal(made.length, 12);
  for (const { prompt, reference } of made) {
    const steps = prompt[0]!.content.split(" ").map((step) => Number(step.slice(1)));
    assert.equal(new Set(steps).size, 3);
    assert.equal(reference, steps.map((step) => wordOf(7, 2, step)).join(" "));
  }
  for (let step = 0; step < 8; step++) {
    const said = [0, 1, 2, 3].map((source) => wordOf(7, source, step));
    assert.equal(said[3] === said[0], step % 2 === 1, "the last source is right on odd steps");
    assert.equal(new Set(said).size, step % 2 === 1 ? 3 : 4);
  }
  for (const text of ["hm", "source-1", "source-1 steps-2 hm"])
    assert.deepEqual(fromTemplate(7, text, "x"), []);
  assert.ok(
    questions(7)
      .tasks("train")
      .every(({ reference }, i) => reference !== questions(7).tasks("test")[i]!.reference),
  );
});

test("a promoted policy is the copy that was measured", async () => {
  const seed = 3;
  const read: ReadProblems = (_ctx, text, id) => fromTemplate(seed, text, id);
  const worth: number[] = [];
  const base = {
    ...{ texts: 2, maxTokens: 2, iterations: 3, batch: 8, attempts: 8, repeats: 1, over: 1 },
    ...{ threshold: 0, teacherRate: 1, kl: 0, read },
  };
  const recipe = method({
    ...{ id: "taught", family: "test", summary: "s" },
    models: { teacher: { from: "policy" } },
    students: (s) => studentOf(s, base),
    says: [`${teacherQuestion}\n`, templateWords.join(" ")],
    slots: (s) => taught(s, base),
  });
  let [before, best] = [0, 0];
  await trainInMemory({
    environment: questions(seed),
    method: recipe.build({ ...plainAscent, tasks: 16, groupSize: 6, learningRate: 300 }),
    engine: tabularEngine({ features: placeIn, prior: knowsNothing }),
    ...{ seed, iterations: 12 },
    onIteration: ({ experience, stats }) => {
      // what the last promotion promised is what this iteration begins with
      if (worth.length > 0) assert.equal(stats.student, worth.at(-1));
      before = stats.student!;
      best = Math.max(
        ...(experience as unknown as { channels: { progress: { value: number }[] } }).channels.progress.map(
          ({ value }) => value,
        ),
      );
      worth.push(stats.promoted === 1 ? before + best : before);
    },
  });
  assert.ok(worth.at(-1)! > 0.3, `${worth}`);
});

test("teaching: texts of one dataset are one unit, and the datasets one group", async () => {
  const engine = tabularEngine({ features: placeIn, prior: knowsNothing });
  const vocabulary = [...questions(1).vocabulary!(), `${teacherQuestion}\n`, ...templateWords];
  const model = await engine.create({ id: "teacher", seed: 1, vocabulary, contextTokens: 64 });
  const counted: Record<string, number> = {};
  const ctx = ctxOf({
    random: randomStream(5),
    model: () => model,
    count: (name, n) => void (counted[name] = (counted[name] ?? 0) + n),
  });
  const { trajectories, units } = await teaching({ datasets: 3, texts: 4, maxTokens: 2 })(ctx);
  assert.deepEqual(
    units.map(({ members }) => members.length),
    [4, 4, 4],
  );
  assert.equal(new Set(units.map(({ group }) => group)).size, 1);
  assert.equal(counted.generations, 12);
  assert.ok(trajectories.every(({ turns: [turn] }) => turn!.model === "teacher"));
  const read: ReadProblems = (_ctx, text, id) => fromTemplate(1, text, id);
  const problems = units.flatMap((one) => problemsOf(ctx, { trajectories }, one, 0, read));
  assert.equal(new Set(problems.map(({ id }) => id)).size, problems.length);
});
