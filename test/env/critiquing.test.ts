import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { codeOf, codewords } from "../../src/env/codewords.ts";
import { critiquing } from "../../src/env/critiquing.ts";
import { hiddenNumber } from "../../src/env/hiddenNumber.ts";
import { tryAgain } from "../../src/env/tryAgain.ts";
import { obeysTheLaws } from "./laws.ts";

const environment = codewords({ questions: 2, length: 2, vocabulary: 3, pay: "whole" });
const task = environment.tasks("train")[0]!;
const code = codeOf(task);
const wrong = ["w0", "w1", "w2"].find((word) => word !== code[1])!;

obeysTheLaws(
  () => tryAgain(environment, { words: critiquing(environment), lexicon: environment.critiqueLexicon! }),
  { garbage: 0.5 },
);

test("critiquing says of the last reply what the environment's critique does, true or not", async () => {
  const lesson = {
    task,
    replies: ["w0 w0", `${code[0]} ${wrong}`],
    text: undefined,
    random: randomStream(1),
  };
  assert.equal(await critiquing(environment)(lesson), "wrong at step 2");
  assert.equal(await critiquing(environment, { detail: "verdict" })(lesson), "wrong");
  assert.equal(await critiquing(environment, { accuracy: 0 })(lesson), "wrong at step 1");
  const answer = await critiquing(environment, { detail: "answer" })(lesson);
  assert.equal(answer, `wrong at step 2 : ${code[1]}`);
});

test("critiquing: an environment without critiques is refused", () => {
  assert.throws(() => critiquing(hiddenNumber()), { code: "config.invalid" });
});
