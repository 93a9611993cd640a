import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { play } from "../../../../test/env/play.ts";
import { documents, neededBy } from "./documents.ts";

obeysTheLaws(() => documents(), { garbage: 0.15 });

test("documents: a call pays the square of the share of needed documents read before it", async () => {
  const env = documents({ needed: 2, turns: 4 });
  const [task] = env.tasks("train");
  const [first, second] = neededBy(task!) as [string, string];
  const script = (...actions: readonly string[]) =>
    play(
      env,
      task!,
      (_t, conversation) => actions[conversation.filter((m) => m.role === "assistant").length]!,
    );
  assert.equal((await script("call")).outcome, 0);
  assert.equal((await script(first, "call")).outcome, 0.25);
  assert.equal((await script(first, first, "call")).outcome, 0.25);
  assert.equal((await script(second, first, "call")).outcome, 1);
  const late = await script(first, second, first, first);
  assert.deepEqual(late.end, { kind: "truncated", limit: "turns", at: 4 });
});

test("documents: what is seen is the state, in whatever order it came about", async () => {
  const env = documents();
  const [task] = env.tasks("train");
  const [first, second] = neededBy(task!) as [string, string];
  const seen = async (...actions: readonly string[]) => {
    const { conversation } = await play(
      env,
      task!,
      (_t, c) => [...actions, "call"][c.filter((m) => m.role === "assistant").length]!,
    );
    return conversation.findLast((m) => m.role === "user")!.content;
  };
  assert.equal(await seen(first, second), `job0 : ${first} ${second}`);
  assert.equal(await seen(second, first), await seen(first, second));
});
