import assert from "node:assert/strict";
import { test } from "node:test";
import { readTwoAnswers } from "../../src/common/text/twoAnswers.ts";
import { randomStream } from "../../src/core/random.ts";
import { codeOf, codewords } from "../../src/env/codewords.ts";
import { maze } from "../../src/env/maze.ts";
import { answers } from "../../src/worlds/answers.ts";
import { selfReflection } from "../../src/worlds/selfReflection.ts";
import { sequences } from "../../src/worlds/sequences.ts";
import { obeysTheLaws } from "../env/laws.ts";

obeysTheLaws(() => selfReflection(sequences()), { garbage: 0.3 });

test("selfReflection: the last answer counts, in tags or without", async () => {
  const environment = selfReflection(codewords({ questions: 2, length: 1 }));
  const task = environment.tasks("train")[0]!;
  const [right] = codeOf(task);
  for (const [content, outcome] of [
    [`<answer> none </answer> <answer> ${right} </answer>`, 1],
    [`<answer> ${right} </answer> <answer> none </answer>`, 0],
    [right!, 1],
  ] as const) {
    const episode = await environment.start(task, randomStream(1));
    assert.deepEqual((await episode.act({ content, stop: "eos" })).rewards, { outcome });
  }
});

test("selfReflection: the expert fixes its first answer in about 1 − right of the tasks, always in the form", () => {
  const environment = selfReflection(codewords({ questions: 400, length: 2 }));
  const replies = environment.tasks("train").map((task) => {
    const read = readTwoAnswers(environment.expert!(task, task.prompt, randomStream(1)));
    assert.ok(read.formed);
    return read.answers[0] === read.answers[1];
  });
  // deviation √(0.21 / 400) = 0.023
  assert.ok(Math.abs(replies.filter(Boolean).length / replies.length - 0.3) < 0.08);
});

test("selfReflection: an environment of several turns, or without a verifier, is refused", () => {
  assert.throws(() => selfReflection(answers()), { code: "config.invalid" });
  assert.throws(() => selfReflection(maze()), { code: "config.invalid" });
});
