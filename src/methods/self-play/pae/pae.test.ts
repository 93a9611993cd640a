import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import type { Message, Task } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { pae } from "./method.ts";
import { outcomeEvaluator, successQuestion } from "./outcomeEvaluator.ts";
import { type Propose, proposalQuestion, proposedBy, proposing } from "./proposing.ts";
import { site, siteReader, siteSpeaker } from "./site.ts";

obeysTheLaws(() => site(1), { garbage: 0.05 });

const given: readonly Task[] = ["v1 o2", "v3 o4"].map((content, i) => ({
  id: `g${i}`,
  prompt: [
    { role: "system", content: "rules" },
    { role: "user", content },
  ],
  reference: "secret",
  metadata: { site: 7 },
  seed: i,
}));
const clock = { iteration: 5, phase: "train", step: 0 };
const chosenBy = async (propose: Propose, count = 3) =>
  (await proposing({ tasks: count, propose }).choose(ctxOf({ clock, random: randomStream(1) }), given, null))
    .tasks;

test("equal texts are one task, empty ones none; without proposals the given tasks are used", async () => {
  const tasks = await chosenBy(async () => ["a", " a ", "", "b", "c", "d"]);
  assert.deepEqual(
    tasks.map(({ id, prompt }) => [id, prompt[1]!.content]),
    [
      ["proposed/5/0", "a"],
      ["proposed/5/1", "b"],
      ["proposed/5/2", "c"],
    ],
  );
  assert.deepEqual(await chosenBy(async () => [" "], 1), [given[0]]);
});

test("the proposer reads its context: what it is told is proposed four times in five", async () => {
  const world = site(3);
  const engine = tabularEngine({ prior: siteSpeaker, features: siteReader });
  const vocabulary = [...world.vocabulary!(), `${proposalQuestion}\n`];
  const model = await engine.create({ id: "proposer", seed: 1, vocabulary, contextTokens: 64 });
  let counted = 0;
  const ctx = ctxOf({
    model: () => model,
    random: randomStream(2),
    count: (_counter, amount) => void (counted += amount),
  });
  const context = `site has ${world.things.join(" ")}`;
  const texts = await proposedBy({ context })(ctx, world.tasks("train"), 2000);
  // six named things against twelve others at e^−2: 6 / (6 + 12 e^−2) = 0.787
  const named = texts.filter((text) => world.things.includes(text.split(" ")[1]!)).length / texts.length;
  assert.ok(Math.abs(named - 0.787) < 0.03, `${named}`);
  assert.ok(counted >= 3 * 2000, `${counted}`);
  const blind = await proposedBy({ context: "site" })(ctx, world.tasks("train"), 2000);
  const share = blind.filter((text) => world.things.includes(text.split(" ")[1]!)).length / blind.length;
  assert.ok(Math.abs(share - 1 / 3) < 0.04, `${share}`);
});

const user = (content: string): Message => ({ role: "user", content });
const done = (content: string, prompt: readonly Message[]) =>
  trajectoryOf("t", [turnOf([1], [2], { prompt, action: { role: "assistant", content } })]);

test("the evaluator sees the task, the last observations and the final action, and no other action", async () => {
  const vocabulary = ["go 1 2 3 4 x y z YES NO\n", successQuestion];
  const engine = tabularEngine({
    prior: (context, word) => {
      const seen = context.filter((w) => !/^<|^\n$/.test(w)).join(" ");
      return word === "YES" ? (seen === `go 2 3 4 z ${successQuestion}` ? Math.log(3) : 9) : 0;
    },
  });
  const model = await engine.create({ id: "judge", seed: 1, vocabulary, contextTokens: 64 });
  const task: Task = { id: "task", prompt: [user("go")], metadata: {}, seed: 1 };
  const acted = (content: string): Message => ({ role: "assistant", content });
  const prompt = [user("go"), acted("x"), user("1"), user("2"), acted("y"), user("3"), user("4")];
  const ctx = { random: randomStream(1), run: ctxOf({ model: () => model }) };
  const [scores] = (await outcomeEvaluator().score([{ task, trajectory: done("z", prompt) }], ctx))!;
  assert.ok(Math.abs(scores!.score! - 0.75) < 1e-6, `${scores!.score}`);
  assert.equal(await outcomeEvaluator().score([{ task, trajectory: trajectoryOf("t", []) }], ctx), undefined);
});

test("the loop trains on proposals alone, by what the evaluator says", async () => {
  const asked = new Set<string>();
  const { counters } = await trainInMemory({
    environment: site(1),
    engine: tabularEngine({ prior: siteSpeaker, features: siteReader }),
    method: pae.build({ tasks: 4, groupSize: 2, optimiser: "sgd", learningRate: 1 }),
    seed: 1,
    iterations: 3,
    onIteration: ({ experience }) => {
      for (const { task } of experience.trajectories) asked.add(task);
    },
  });
  assert.ok(asked.size > 8 && [...asked].every((id) => id.startsWith("proposed/")), [...asked].join());
  assert.equal(counters["judge.calls"], counters.episodes);
});
