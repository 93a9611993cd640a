import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { isSuccess, play } from "../../../../test/env/play.ts";
import { randomStream } from "../../../core/random.ts";
import { maze } from "../../../env/maze.ts";
import { answers, rightOf } from "../../../worlds/answers.ts";
import { wordy } from "./wordy.ts";

obeysTheLaws(() => wordy(maze()), { garbage: 0.1 });

test("wordy: words in front are thought, an action without them is none", async () => {
  const environment = wordy(answers({ questions: 2, vocabulary: 4, right: 1 }), { words: 2, vocabulary: 3 });
  const [task] = environment.tasks("train");
  const [right] = rightOf(task!);
  assert.deepEqual(environment.limits, { turns: 1, actionTokens: 3 });
  assert.equal(isSuccess(await play(environment, task!, () => `um0 um2 ${right}`)), true);
  assert.equal(isSuccess(await play(environment, task!, () => ` a b  ${right} `)), true);
  assert.equal(isSuccess(await play(environment, task!, () => `${right}`)), false);
  assert.equal(isSuccess(await play(environment, task!, () => `um0 um1 um2 ${right}`)), false);
  assert.match(environment.expert!(task!, task!.prompt, randomStream(1)), /^um\d um\d a\d$/);
});
