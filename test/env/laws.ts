/** The contract of every environment, as one shared test that takes the environment. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import type { Environment, Player } from "../../src/env/environment.ts";
import { isSuccess, type Played, play, trajectoryOf } from "./play.ts";

export interface Promised {
  /** Highest success rate of empty and random actions. */
  readonly garbage: number;
  /** Range of the flawed player's success rate on each split, if there is one. */
  readonly flawed?: readonly [number, number];
  /** Splits that the range applies to. Default: all. */
  readonly flawedOn?: readonly string[];
}

const strange = [
  "",
  " ",
  "\n\n",
  "💥",
  "answer",
  "lookup of",
  "go",
  "go nowhere",
  "constructor",
  "__proto__",
  "{}",
  "a".repeat(5000),
];

export function obeysTheLaws(make: () => Environment, promised: Promised): void {
  const env = make();
  const { name } = env;
  const all = env.splits.map((split) => [split, env.tasks(split)] as const);
  /** Up to n tasks, spread over the list. */
  const some = (tasks: readonly Task[], n: number): readonly Task[] =>
    tasks.length <= n
      ? tasks
      : Array.from({ length: n }, (_, i) => tasks[Math.floor((i * tasks.length) / n)]!);
  const words = [...new Set((env.vocabulary?.() ?? []).flatMap((t) => t.split(/\s+/)))];
  const babble: Player = (_task, _conversation, random) =>
    Array.from({ length: 1 + random.below(5) }, () => words[random.below(words.length)]!).join(" ");
  // valid actions, so that every kind of reply occurs
  const chatter: Player = (task, conversation, random) => {
    const commands = ["search", "lookup currency of", "lookup country of", "lookup name of", "go"];
    const rest = babble(task, conversation, random);
    return random.below(3) === 0 ? rest : `${commands[random.below(commands.length)]!} ${rest}`;
  };

  /** Trajectories by player and task, shared by the tests so that none is played twice. */
  const seen = new Map<Player, Map<string, Played>>();
  async function playedOnce(task: Task, player: Player): Promise<Played> {
    const its = seen.get(player) ?? new Map<string, Played>();
    seen.set(player, its);
    const known = its.get(task.id) ?? (await play(env, task, player));
    its.set(task.id, known);
    return known;
  }

  test(`${name}: tasks are the same each time, have distinct ids, and no split shares one`, () => {
    const again = make();
    const ids = new Set<string>();
    for (const [split, tasks] of all) {
      assert.deepEqual(again.tasks(split), tasks);
      assert.deepEqual(JSON.parse(JSON.stringify(tasks)), tasks, "plain data");
      assert.ok(tasks.length > 0);
      for (const t of tasks) {
        assert.ok(!ids.has(t.id), t.id);
        ids.add(t.id);
      }
    }
    assert.deepEqual(env.tasks("no such split"), []);
  });

  test(`${name}: the expert solves every task of every split within the turn limit`, async () => {
    for (const [, tasks] of all) {
      for (const task of tasks) {
        const played = await playedOnce(task, env.expert!);
        assert.ok(isSuccess(played), `${task.id}: ${played.actions.join(" / ")}`);
        assert.ok(played.actions.length <= env.limits.turns);
        const verified = await env.verify!(
          task,
          trajectoryOf(task, played.actions, played.end, played.outcome),
        );
        assert.equal(verified.outcome, played.outcome);
      }
    }
  });

  if (env.flawed && promised.flawed) {
    const [low, high] = promised.flawed;
    test(`${name}: the flawed player succeeds in ${low} to ${high} of the tasks`, async () => {
      for (const [split, tasks] of all) {
        if (promised.flawedOn && !promised.flawedOn.includes(split)) continue;
        let solved = 0;
        for (const task of tasks) if (isSuccess(await playedOnce(task, env.flawed!))) solved++;
        const share = solved / tasks.length;
        assert.ok(share >= low && share <= high, `${split}: ${share}`);
      }
    });
  }

  test(`${name}: empty, strange and random actions never throw and score low`, async () => {
    for (const [, tasks] of all) {
      let solved = 0;
      let tried = 0;
      for (const task of some(tasks, 25)) {
        const plays: readonly Player[] = [() => "", babble, (_t, _c, r) => strange[r.below(strange.length)]!];
        for (const player of plays) {
          const played = await play(env, task, player);
          assert.notEqual(played.end.kind, "failed");
          const verified = await env.verify!(
            task,
            trajectoryOf(task, played.actions, played.end, played.outcome),
          );
          assert.equal(verified.outcome, played.outcome);
          tried++;
          if (isSuccess(played)) solved++;
        }
      }
      assert.ok(solved / tried <= promised.garbage, `${solved} of ${tried}`);
    }
  });

  test(`${name}: verify is total`, async () => {
    const task = all[0]![1][0]!;
    const end = { kind: "failed", boundary: "model", message: "none" } as const;
    assert.deepEqual(await env.verify!(task, trajectoryOf(task, [], end)), { outcome: 0 });
    for (const content of strange) {
      const verified = await env.verify!(task, trajectoryOf(task, [content], end));
      for (const value of Object.values(verified)) assert.ok(Number.isFinite(value));
    }
  });

  test(`${name}: the same task and actions give the same episode, also on another random stream`, async () => {
    for (const [, tasks] of all) {
      for (const task of some(tasks, 10)) {
        const once = await play(env, task, chatter, randomStream(3));
        assert.deepEqual(await play(env, task, chatter, randomStream(3)), once);
        await replayAgrees(env, task, once);
      }
    }
  });

  // without a vocabulary it takes free text, for models with their own tokenizer
  if (!env.vocabulary) return;
  test(`${name}: the vocabulary has every word that is said`, async () => {
    const known = new Set(words);
    const players = [env.expert!, ...(env.flawed ? [env.flawed] : []), babble, chatter];
    for (const [, tasks] of all) {
      for (const task of some(tasks, 80)) {
        for (const player of players) {
          const { conversation, texts } = await playedOnce(task, player);
          const said = conversation.filter((m) => player !== chatter || m.role !== "assistant");
          for (const text of [...said.map((m) => m.content), ...texts]) {
            for (const word of text.split(/\s+/))
              assert.ok(word === "" || known.has(word), `"${word}" in: ${text}`);
          }
        }
      }
    }
    seen.clear();
  });
}

/** The same actions lead to the same end on another stream, and through the same states where `replay` is declared. */
async function replayAgrees(env: Environment, task: Task, played: Played): Promise<void> {
  const episode = await env.start(task, randomStream(task.seed));
  for (const [i, content] of played.actions.entries()) {
    const { observation } = await episode.observe();
    if (env.abilities.has("replay")) assert.equal(observation.stateKey, played.stateKeys[i]);
    const step = await episode.act({ content, stop: "eos" });
    assert.deepEqual(step.end, i === played.actions.length - 1 ? played.end : undefined);
  }
}
