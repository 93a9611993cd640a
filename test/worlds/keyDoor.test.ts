import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { keyDoor } from "../../src/worlds/keyDoor.ts";
import { obeysTheLaws } from "../env/laws.ts";
import { isSuccess, play } from "../env/play.ts";

obeysTheLaws(() => keyDoor(), { garbage: 0.05 });

const env = keyDoor();
const task = env.tasks("train")[0]!;
const act = (content: string) => ({ content, stop: "eos" }) as const;

test("key-door: the expert takes the shortest way, whatever the length", async () => {
  // one step to the key, picking it up, to the other end, opening
  for (const [cells, steps] of [
    [2, 4],
    [4, 6],
    [7, 9],
  ] as const) {
    const long = keyDoor({ cells });
    const played = await play(long, task, long.expert!);
    assert.ok(isSuccess(played));
    assert.equal(played.actions.length, steps);
  }
});

test("key-door: only what changes something counts as executable", async () => {
  const episode = await env.start(task, randomStream(1));
  const paid: number[] = [];
  for (const action of ["wave", "pick", "left", "left", "pick", "pick", "open", "right", "fly"])
    paid.push((await episode.act(act(action))).rewards!.executable!);
  assert.deepEqual(paid, [0, 0, 1, 0, 1, 0, 0, 1, 0]);
  const { observation } = await episode.observe();
  assert.equal(observation.stateKey, "cell 1 key yes");
});

test("key-door: the limit of turns ends it without pay", async () => {
  const played = await play(env, task, () => "sing");
  assert.equal(played.actions.length, 10);
  assert.deepEqual(played.end, { kind: "truncated", limit: "turns", at: 10 });
  assert.equal(played.outcome, 0);
});
