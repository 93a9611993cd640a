import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { corridor } from "../../src/worlds/corridor.ts";
import { obeysTheLaws } from "../env/laws.ts";
import { play } from "../env/play.ts";

obeysTheLaws(() => corridor(), { garbage: 0.05 });

test("corridor: wrong actions are survived as often as said, and each cell survived pays its share", async () => {
  const env = corridor({ cells: 2, fatal: 0.3, layouts: 1 });
  const [task] = env.tasks("train");
  const wrong = env.expert!(task!, task!.prompt, randomStream(1)) === "a0" ? "a1" : "a0";
  let survived = 0;
  const n = 2000;
  for (let i = 0; i < n; i++) {
    const episode = await env.start(task!, randomStream(i));
    const { rewards, end } = await episode.act({ content: wrong, stop: "eos" });
    assert.equal(rewards!.outcome, end ? 0 : 0.5);
    if (!end) survived++;
  }
  // 0.7 with a standard error of 0.0102
  assert.ok(Math.abs(survived / n - 0.7) < 0.04, `${survived / n}`);
});

test("corridor: paid at its end alone; the rule is the seed's, in every layout alike", async () => {
  const env = corridor({ cells: 5, kinds: 2, fatal: 1, pay: "end", layouts: 20 });
  const rule = new Map<string, string>();
  for (const task of [...env.tasks("train"), ...env.tasks("test")]) {
    const { conversation, outcome, end, actions } = await play(env, task, env.expert!);
    assert.equal(outcome, 1);
    assert.deepEqual(end, { kind: "done", reason: "got through", success: true });
    const seen = conversation.filter((m) => m.role === "user").map((m) => m.content);
    actions.forEach((action, k) => {
      assert.equal(rule.get(seen[k]!) ?? action, action);
      rule.set(seen[k]!, action);
    });
  }
  assert.ok(rule.size >= 8, `${rule.size} of 2 kinds after 4 actions or the start`);
});
