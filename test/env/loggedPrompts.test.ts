import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { loggedTask, type TrainingExample } from "../../src/core/trainingExamples.ts";
import { declaredFindings } from "../../src/diagnose/environment/claims.ts";
import { bandit } from "../../src/env/bandit.ts";
import { loggedPrompts } from "../../src/env/loggedPrompts.ts";

/** A demonstration for a prompt whose task has that seed: every tenth is held out. */
function shown(seed: number): TrainingExample {
  const prompt = [{ role: "user" as const, content: `question ${seed}` }];
  const task = { id: loggedTask(String(seed)), prompt, metadata: {}, seed };
  return {
    kind: "demonstration",
    id: `d${seed}`,
    task,
    from: { sessions: [], users: [], responses: [], signals: [] },
    source: "user",
    shown: {
      id: `d${seed}`,
      task: task.id,
      episode: `d${seed}`,
      role: "agent",
      turns: [
        {
          role: "agent",
          model: "policy",
          version: "written",
          prompt,
          action: { role: "assistant", content: `answer  ${seed}` },
          spans: {},
          stop: "eos",
          rewards: {},
          ms: 0,
        },
      ],
      end: { kind: "done", reason: "logged" },
      origin: "demonstrated",
    },
  };
}
const examples = [10, 11, 12].map(shown);
const random = randomStream(1);

test("prompts of people are tasks, a tenth of them held out", () => {
  const environment = loggedPrompts(examples);
  assert.deepEqual(
    environment.tasks("train").map(({ seed }) => seed),
    [11, 12],
  );
  assert.deepEqual(
    environment.tasks("test").map(({ seed }) => seed),
    [10],
  );
  assert.ok(environment.vocabulary!().includes("answer  11"));
});

test("nobody is there to play with", async () => {
  const environment = loggedPrompts(examples);
  await assert.rejects(environment.start(environment.tasks("train")[0]!, random), {
    code: "capability.missing",
  });
});

test("a held-out prompt is replied to once, and succeeds with what people wanted, up to blanks", async () => {
  const environment = loggedPrompts(examples);
  const [task] = environment.tasks("test");
  const say = async (content: string) => {
    const episode = await environment.start(task!, random);
    await episode.observe();
    return episode.act({ content, stop: "eos" });
  };
  assert.deepEqual(await say("answer 10"), {
    rewards: { agreement: 1 },
    end: { kind: "done", reason: "replied", success: true },
  });
  assert.equal((await say("answer 11")).rewards?.agreement, 0);
});

test("or it is measured in another environment, and nothing is held out", async () => {
  const measured = bandit();
  const environment = loggedPrompts(examples, { measured });
  assert.equal(environment.tasks("train").length, 3);
  const [held] = measured.splits.filter((split) => split !== "train");
  assert.ok(held !== undefined && environment.splits.includes(held));
  const [task] = environment.tasks(held);
  assert.equal((await (await environment.start(task!, random)).observe()).role, measured.roles[0]);
  assert.ok(measured.expert);
  assert.deepEqual(declaredFindings(environment), [], "nobody is an expert at what was asked in production");
});
