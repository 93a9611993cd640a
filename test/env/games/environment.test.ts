/** Games as environments: several roles, rewards for all, and the reference player in the tasks of "test". */
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../src/core/random.ts";
import { paid, type Task, type Trajectory } from "../../../src/core/types.ts";
import type { Player } from "../../../src/env/environment.ts";
import {
  environments,
  type GameEnvironment,
  gameEnvironment,
  isGame,
  kuhnPoker,
  payoffsUnder,
} from "../../../src/env/index.ts";
import { scriptActor } from "../../../src/rollout/actor.ts";
import { playEpisode } from "../../../src/rollout/episode.ts";

const games = environments.map((row) => row.make()).filter(isGame);

const played = (
  environment: GameEnvironment,
  task: Task,
  player: Player,
  seed = 1,
): Promise<readonly Trajectory[]> =>
  playEpisode({
    environment,
    task,
    id: task.id,
    actor: () => scriptActor("script", player),
    random: randomStream(seed).split(task.id),
  });

/** A player that makes these moves in turn, whatever its role. */
const making = (...moves: string[]): Player => {
  let at = 0;
  return () => moves[at++]!;
};

test("games: eight are in the catalogue", () => {
  assert.deepEqual(games.map((game) => game.name).sort(), [
    "bargaining",
    "kuhn-poker",
    "leduc-poker",
    "nim",
    "red-team",
    "rock-paper-scissors",
    "taboo",
    "tic-tac-toe",
  ]);
});

for (const game of games) {
  test(`${game.name}: tasks are plain data, the same each time, and distinct`, () => {
    const all = game.splits.flatMap((split) => game.tasks(split));
    assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
    assert.deepEqual(JSON.parse(JSON.stringify(all)), all);
    assert.deepEqual(
      game.splits.flatMap((split) => game.tasks(split)),
      all,
    );
    assert.deepEqual(game.tasks("no such split"), []);
  });

  test(`${game.name}: players end every kind of task, every role is paid, and every word is in the vocabulary`, async () => {
    const words = new Set(game.vocabulary!().flatMap((text) => text.split(/\s+/)));
    for (const player of [game.expert!, game.flawed!]) {
      for (const task of [
        ...game.tasks("train").slice(0, 6),
        ...game.tasks("test").filter((_, i) => i % 40 === 0),
      ]) {
        const trajectories = await played(game, task, player);
        const payoffs = trajectories.map(paid);
        for (const { end, turns } of trajectories) {
          assert.equal(end.kind, "done");
          assert.equal(turns.at(-1)!.rewards.outcome !== undefined, true);
          for (const { prompt, action } of turns)
            for (const { content } of [...prompt, action])
              for (const word of content.split(/\s+/)) assert.ok(words.has(word), word);
        }
        if (task.metadata.seat !== undefined)
          assert.deepEqual(
            trajectories.map((t) => t.role),
            [task.metadata.seat],
          );
        else if (game.game.sum === "zero" && trajectories.length === game.roles.length)
          assert.equal(
            payoffs.reduce((a, b) => a + b, 0),
            0,
          );
      }
    }
  });

  test(`${game.name}: a reply that is no move costs the forfeit and is no success`, async () => {
    for (const reply of ["", "constructor", "pass pass pass pass", "💥"]) {
      const [first] = await played(game, game.tasks("train")[0]!, () => reply);
      assert.equal(paid(first!), -game.game.forfeit);
      assert.deepEqual(first!.end, { kind: "done", reason: "not a move", success: false });
      assert.match(first!.turns[0]!.text!, /^not a move here ; moves : /);
    }
  });

  test(`${game.name}: the same moves lead to the same states on another random stream`, async () => {
    for (const task of [game.tasks("train")[0]!, game.tasks("test").at(-1)!]) {
      const once = await played(game, task, game.flawed!);
      const moves = once.map(({ role, turns }) => [role, turns.map((t) => t.action.content)] as const);
      const left = new Map(moves.map(([role, made]) => [role, [...made]]));
      const episode = await game.start(task, randomStream(99));
      for (;;) {
        const { role } = await episode.observe();
        const { end } = await episode.act({ content: left.get(role)!.shift()!, stop: "eos" });
        if (end) break;
      }
      assert.ok([...left.values()].every((made) => made.length === 0));
    }
  });
}

test("kuhn poker: the role that did not act last is paid too, at its last action", async () => {
  const environment = gameEnvironment(kuhnPoker);
  // jack against queen: pass, bet, pass: second wins the chip of first, who acted last
  const [first, second] = await played(
    environment,
    environment.tasks("train")[0]!,
    making("pass", "bet", "pass"),
  );
  assert.deepEqual(
    first!.turns.map((t) => t.rewards),
    [{}, { outcome: -1 }],
  );
  assert.deepEqual(
    second!.turns.map((t) => t.rewards),
    [{ outcome: 1 }],
  );
  assert.deepEqual(
    second!.turns[0]!.prompt.at(-1)!.content,
    "you are second . your card is queen . they pass",
  );
  // bet and met: the queen wins two; second acted last
  const met = await played(environment, environment.tasks("train")[0]!, making("bet", "bet"), 2);
  assert.deepEqual(met.map(paid), [-2, 2]);
});

test("kuhn poker: against the reference player, a best response wins in the long run what the tree says", async () => {
  const environment = gameEnvironment(kuhnPoker, { tests: 600 });
  const tree = environment.tree();
  const tasks = environment.tasks("test");
  const all = await Promise.all(tasks.map((task) => played(environment, task, environment.expert!)));
  const earned = (seat: string): number => {
    const own = all.flat().filter((t) => t.role === seat);
    return own.reduce((sum, t) => sum + paid(t), 0) / own.length;
  };
  // 600 games with a deviation of about 1.4 each
  const [value] = payoffsUnder(tree, environment.reference());
  assert.ok(Math.abs(earned("first") - value!) < 0.2, `${earned("first")}`);
  assert.ok(Math.abs(earned("second") + value!) < 0.2, `${earned("second")}`);
});
