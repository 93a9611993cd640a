import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import { codeOf, codewords } from "../../../env/codewords.ts";
import { critiquing } from "../../../worlds/critiquing.ts";
import { tryAgain } from "../../../worlds/tryAgain.ts";
import { hiddenNumber } from "./hiddenNumber.ts";

const environment = codewords({ questions: 2, length: 2, vocabulary: 3, pay: "whole" });
const task = environment.tasks("train")[0]!;
const code = codeOf(task);
const wrong = ["w0", "w1", "w2"].find((word) => word !== code[1])!;

obeysTheLaws(
  () =>
    tryAgain(environment, { words: critiquing(environment), vocabulary: environment.critiqueVocabulary! }),
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
  assert.equal(await critiquing(environment, { detail: "outcome" })(lesson), "wrong");
  assert.equal(await critiquing(environment, { accuracy: 0 })(lesson), "wrong at step 1");
  const answer = await critiquing(environment, { detail: "answer" })(lesson);
  assert.equal(answer, `wrong at step 2 : ${code[1]}`);
});

test("critiquing: an environment without critiques is refused", () => {
  assert.throws(() => critiquing(hiddenNumber()), { code: "config.invalid" });
});
