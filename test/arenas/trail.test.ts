/** The arena "trail": the expert walks every trail, no trail of a held-out split begins like one that is trained, signs mean the same everywhere. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { trail } from "../../src/arenas/trail/arena.ts";
import {
  junctions,
  landmarks,
  misreads,
  places,
  rightWay,
  type Trail,
  trails,
  turnLimit,
  ways,
} from "../../src/arenas/trail/world.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import type { Player } from "../../src/env/environment.ts";
import { playedBy } from "../env/play.ts";

const world = trails();
const trailOf = ({ metadata }: Task): Trail => metadata as unknown as Trail;

const play = (task: Task, player: Player) => playedBy(world, task, player);

test("the expert arrives in as many moves as there are junctions; the flawed player in some of the trails", async () => {
  let arrived = 0;
  const tasks = world.tasks("test");
  for (const task of tasks) {
    const { turns, end } = await play(task, world.expert!);
    assert.equal(turns.length, junctions);
    assert.deepEqual(end, { kind: "done", reason: "arrived", success: true });
    for (const { rewards } of turns.slice(0, -1)) assert.deepEqual(rewards, {});
    const flawed = await play(task, world.flawed!);
    const { outcome } = await world.verify!(task, flawed);
    assert.equal(flawed.turns.at(-1)!.rewards.outcome, outcome);
    arrived += outcome!;
  }
  assert.ok(arrived > 0.3 * tasks.length && arrived < 0.55 * tasks.length, String(arrived));
});

test("no trail begins like one of another split, and a sign means the same in all", () => {
  const signs = new Map<string, string>();
  const begin = world.splits.map(
    (split) =>
      new Set(
        world.tasks(split).map((task) => {
          const of = trailOf(task);
          for (const [i, mark] of of.landmarks.entries()) {
            const sign = `${of.to} ${mark}`;
            assert.equal(signs.get(sign) ?? rightWay(of, i), rightWay(of, i));
            signs.set(sign, rightWay(of, i));
          }
          return [of.to, ...of.landmarks.slice(0, 3)].join(" ");
        }),
      ),
  );
  assert.equal(signs.size, places.length * landmarks.length);
  for (const [i, one] of begin.entries())
    for (const other of begin.slice(i + 1)) assert.ok([...one].every((of) => !other.has(of)));
  const wrong = [...signs.keys()].filter((sign) => misreads(...(sign.split(" ") as [string, string])));
  assert.ok(wrong.length > signs.size / 4 && wrong.length < (3 * signs.size) / 5, String(wrong.length));
});

test("a wrong way costs a move and leads back; who walks on is preferred, and a critique names the first wrong move", async () => {
  const task = world.tasks("validation")[0]!;
  const of = trailOf(task);
  const wrong = ways.find((way) => way !== rightWay(of, 0))!;
  const stuck = await play(task, () => wrong);
  assert.deepEqual(stuck.end, { kind: "truncated", limit: "turns", at: turnLimit });
  assert.equal(stuck.turns.at(-1)!.prompt.at(-1)!.content, `back ${of.landmarks[0]}`);
  const right = await play(task, world.expert!);
  assert.equal(await world.prefer!(task, right, stuck), 1);
  assert.equal(await world.prefer!(task, stuck, right), 0);
  const asked = { right: true, detail: "answer", random: randomStream(1) } as const;
  assert.equal((await world.critique!(task, stuck, asked)).text, `wrong at step 1 : ${rightWay(of, 0)}`);
  // a landmark, a mark that one is back, the way and three marks of the conversation
  assert.ok(4 + turnLimit * 8 <= trail.budget.contextTokens);
});
