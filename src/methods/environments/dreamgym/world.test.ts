import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { isSuccess, play } from "../../../../test/env/play.ts";
import { randomStream } from "../../../core/random.ts";
import type { Environment } from "../../../env/environment.ts";
import { keyGrid } from "../../../env/keyGrid.ts";
import { imaginedTask } from "./imagined.ts";
import { byAnalogy, carriedOver, imagined, samePlaces, type Transition, transitionsOf } from "./world.ts";

test("samePlaces: words by place, numbers by their distance", () => {
  assert.equal(samePlaces("row 2 key no", "row 2 key no"), 1);
  // row 1, 2 against 4: 1/3, key 1, no against yes: 0
  assert.ok(Math.abs(samePlaces("row 2 key no", "row 4 key yes") - (1 + 1 / 3 + 1 + 0) / 4) < 1e-12);
  assert.equal(samePlaces("row 2", "row 2 key"), 0);
});

test("carriedOver: numbers move by as much, words become what they became, and what stayed stays", () => {
  assert.equal(carriedOver("row 2 key no", "row 3 key no", "row 4 key yes"), "row 5 key yes");
  assert.equal(carriedOver("row 2 key no", "row 2 key yes", "row 4 key no"), "row 4 key yes");
  assert.equal(carriedOver("at home", "at work", "at sea"), "at work");
  assert.equal(carriedOver("row 2", "the end", "row 3 key no"), "the end");
});

/** A turn in which this was heard before it. */
const turn = (heard: string, content: string, more = {}) => ({
  ...turnOf([1], [2], more),
  prompt: [
    { role: "user", content: "earlier" } as const,
    { role: "assistant", content: "go" } as const,
    { role: "user", content: heard } as const,
  ],
  action: { role: "assistant", content } as const,
});

const end = { kind: "done", reason: "there", success: true } as const;

test("transitionsOf: what was heard, done and heard next; an end is kept, a limit is none", () => {
  const turns = [turn("a 1", " go "), turn("a 2", "stop", { rewards: { outcome: 1 }, text: "well" })];
  assert.deepEqual(transitionsOf([trajectoryOf("t", turns, { end })]), [
    { state: "a 1", action: "go", next: "a 2", rewards: {} },
    { state: "a 2", action: "stop", rewards: { outcome: 1 }, text: "well", end },
  ]);
  const cut = { kind: "truncated", limit: "turns", at: 1 } as const;
  assert.deepEqual(transitionsOf([trajectoryOf("t", turns.slice(0, 1), { end: cut })]), [
    { state: "a 1", action: "go", rewards: {} },
  ]);
  const failed = { kind: "failed", boundary: "environment", message: "broken" } as const;
  assert.deepEqual(transitionsOf([trajectoryOf("t", turns, { end: failed })]), []);
});

test("byAnalogy: what happened happens again; elsewhere it changes the state and pays nothing", () => {
  const seen: Transition = { state: "a 1", action: "go", next: "a 2", rewards: { outcome: 1 }, end };
  const task = { id: "t", prompt: [], metadata: {}, seed: 1 };
  const asked = (state: string, similarity: number) => ({
    task,
    history: [],
    state,
    action: "go",
    examples: [{ ...seen, similarity }],
  });
  const { next, rewards, end: ended } = byAnalogy(asked("a 1", 1));
  assert.deepEqual([next, rewards, ended], ["a 2", { outcome: 1 }, end]);
  assert.deepEqual(byAnalogy(asked("a 3", 0.5)), { next: "a 4", rewards: {} });
  assert.deepEqual(byAnalogy({ ...asked("a 3", 0.5), examples: [] }), { rewards: {} });
});

test("byAnalogy: several precedents vote, each by its similarity", () => {
  const task = { id: "t", prompt: [], metadata: {}, seed: 1 };
  const step = (from: number, to: number, similarity: number) => ({
    state: `a ${from}`,
    action: "go",
    next: `a ${to}`,
    rewards: {},
    similarity,
  });
  const next = (...examples: ReturnType<typeof step>[]) =>
    byAnalogy({ task, history: [], state: "a 5", action: "go", examples }).next;
  assert.equal(next(step(4, 4, 0.6), step(3, 4, 0.4), step(7, 8, 0.3)), "a 6"); // 0.7 against 0.6
  assert.equal(next(step(4, 4, 0.6), step(3, 4, 0.3), step(7, 8, 0.2)), "a 5");
  assert.equal(next(step(4, 4, 0.5), step(3, 4, 0.5)), "a 5"); // equals: the nearest, which comes first
});

/** Every transition of every cell, as the environment itself has them. */
async function everything(environment: Environment): Promise<Transition[]> {
  const found: Transition[] = [];
  for (const task of [...environment.tasks("train"), ...environment.tasks("test")]) {
    for (const first of ["north", "east", "south", "west"]) {
      const episode = await environment.start(task, randomStream(1));
      let heard = task.prompt[0]!.content;
      const turns = [];
      let over: Transition["end"];
      for (let k = 0; k < 30 && !over; k++) {
        const content =
          k === 0 ? first : environment.expert!(task, [{ role: "user", content: heard }], randomStream(1));
        const step = await episode.act({ content, stop: "eos" });
        turns.push(turn(heard, content, { rewards: step.rewards ?? {} }));
        over = step.end;
        heard = (await episode.observe()).observation.messages[0]!.content;
      }
      found.push(...transitionsOf([trajectoryOf("t", turns, { end: over! })]));
    }
  }
  return found;
}

test("imagined: with all there is in store, imagined episodes go as real ones do; tasks not marked are real", async () => {
  const real = keyGrid({ side: 4 });
  const environment = imagined(real, { transitions: await everything(real) });
  for (const task of real.tasks("train")) {
    const [dreamt, played] = [
      await play(environment, imaginedTask(task), real.expert!),
      await play(real, task, real.expert!),
    ];
    assert.ok(isSuccess(dreamt) && isSuccess(played));
    assert.deepEqual(dreamt.actions, played.actions);
    assert.deepEqual(dreamt.conversation, played.conversation);
    assert.ok(dreamt.stateKeys.every((key) => key?.startsWith("imagined")));
    assert.deepEqual(await play(environment, task, real.expert!), played);
  }
});

test("imagined: nothing stored for an action changes nothing, and no word is made up", async () => {
  const real = keyGrid({ side: 4 });
  const task = real.tasks("train").find(({ prompt }) => !prompt[0]!.content.startsWith("row 0"));
  const column = task!.prompt[0]!.content.split(" ")[3];
  const away: Transition = {
    state: `row 0 column ${column} key no`,
    action: "south",
    next: `row 3 column ${column} key no`,
    rewards: { outcome: 1 },
    end,
  };
  const environment = imagined(real, { transitions: [away] });
  const episode = await environment.start(imaginedTask(task!), randomStream(1));
  const seen = async () => (await episode.observe()).observation.messages[0]?.content;
  await episode.act({ content: "north", stop: "eos" });
  assert.equal(await seen(), task!.prompt[0]!.content);
  const step = await episode.act({ content: "south", stop: "eos" });
  // three rows further down than any row but the first is nowhere
  assert.equal(await seen(), task!.prompt[0]!.content);
  assert.deepEqual([step.rewards, step.end], [{}, undefined]);
});
