import assert from "node:assert/strict";
import { test } from "node:test";
import type { CritiqueDetail } from "../../src/core/critique.ts";
import { randomStream } from "../../src/core/random.ts";
import { firstWrong, lock, settingsOf } from "../../src/worlds/lock.ts";
import { obeysTheLaws } from "../env/laws.ts";
import { trajectoryOf } from "../env/play.ts";

obeysTheLaws(() => lock(), { garbage: 0.05 });

const environment = lock({ locks: 2, wheels: 3, settings: 2 });
const task = environment.tasks("train")[0]!;
const right = settingsOf(task);
const other = (setting: string): string => (setting === "s0" ? "s1" : "s0");
const slipped = [right[0]!, other(right[1]!), other(right[2]!)];
const over = { kind: "done", reason: "" } as const;

const critique = (set: readonly string[], detail: CritiqueDetail, isRight = true) =>
  environment.critique!(task, trajectoryOf(task, set, over), {
    right: isRight,
    detail,
    random: randomStream(1),
  });

test("lock: each wheel is shown, the last one decides, and the first mistake is found", async () => {
  const episode = await environment.start(task, randomStream(1));
  const seen: (string | undefined)[] = [];
  for (const content of slipped) {
    seen.push((await episode.observe()).observation.stateKey);
    const { end, rewards } = await episode.act({ content, stop: "eos" });
    if (end) assert.deepEqual([end.kind === "done" && end.success, rewards], [false, { outcome: 0 }]);
  }
  assert.deepEqual(seen, ["lock 0 wheel 0", "lock 0 wheel 1", "lock 0 wheel 2"]);
  assert.equal(firstWrong(task, slipped), 1);
  assert.equal(firstWrong(task, right), undefined);
});

test("lock: a true critique names the first wrong wheel, and as much as it may", async () => {
  assert.deepEqual(await critique(slipped, "outcome"), { text: "wrong", outcome: "failure" });
  const hint = await critique(slipped, "hint");
  assert.deepEqual([hint.text, hint.turn], ["wrong at wheel 1", 1]);
  assert.equal((await critique(slipped, "answer")).text, `wrong at wheel 1 : ${right[1]}`);
  assert.equal((await critique(right, "answer")).outcome, "success");
});

test("lock: a misleading critique blames a wheel that was right", async () => {
  const { text, turn } = await critique(slipped, "answer", false);
  assert.deepEqual([text, turn], [`wrong at wheel 0 : ${other(right[0]!)}`, 0]);
});
