import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import { artefact } from "./artefact.ts";

obeysTheLaws(() => artefact({ edits: 40 }), { garbage: 0.1 });

const env = artefact();
const task = env.tasks("train")[0]!;
const act = (content: string) => ({ content, stop: "eos" }) as const;

test("artefact: edits move by a tenth, the scorer says so, a stop pays the true quality", async () => {
  const episode = await env.start(task, randomStream(1));
  let quality = 5;
  for (let i = 0; i < 4; i++) {
    const { rewards } = await episode.act(act("guided"));
    const now = Math.round(rewards!.quality! * 10);
    assert.equal(Math.abs(now - quality), 1);
    quality = now;
    const { observation } = await episode.observe();
    assert.equal(observation.messages[0]!.content, `quality ${quality}`);
  }
  const { rewards, end } = await episode.act(act("stop"));
  assert.deepEqual(rewards, { outcome: quality / 10 });
  assert.equal(end?.kind, "done");
});

test("artefact: guided edits help three times in four, a perfect one can only be harmed", async () => {
  const risen = async (quality: number, action: string): Promise<number> => {
    let better = 0;
    for (let seed = 0; seed < 2000; seed++) {
      const fresh = artefact({ start: quality });
      const episode = await fresh.start(fresh.tasks("train")[0]!, randomStream(seed));
      const { rewards } = await episode.act(act(action));
      if (rewards!.quality! * 10 > quality) better++;
    }
    return better / 2000;
  };
  // deviations of a share of 2000 draws: below 0.011
  assert.ok(Math.abs((await risen(5, "guided")) - 0.75) < 0.04);
  assert.ok(Math.abs((await risen(4, "random")) - 0.6) < 0.04);
  assert.equal(await risen(10, "guided"), 0);
});

test("artefact: the last edit ends it, and what is no action is worth nothing", async () => {
  const short = artefact({ edits: 2 });
  const episode = await short.start(task, randomStream(2));
  assert.equal((await episode.act(act("guided"))).end, undefined);
  const last = await episode.act(act("guided"));
  assert.equal(last.end?.kind, "done");
  assert.equal(last.rewards!.outcome, last.rewards!.quality);
  const odd = await (await env.start(task, randomStream(3))).act(act("paint"));
  assert.deepEqual(odd.rewards, { outcome: 0, invalid: 1 });
});
