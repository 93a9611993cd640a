import assert from "node:assert/strict";
import { test } from "node:test";
import type { Environment } from "../../src/env/environment.ts";
import { gameEnvironment, rockPaperScissors, type Strategy, strategyPlayer } from "../../src/env/index.ts";
import { scriptActor } from "../../src/rollout/actor.ts";
import { type LeagueMember, leagueReport, playPairing } from "../../src/suite/league.ts";
import { limitConcurrency } from "../../src/train/limit.ts";

const environment = gameEnvironment(rockPaperScissors());
const tree = environment.tree();

const member = (name: string, chances: readonly number[]): LeagueMember => {
  const strategy: Strategy = tree.sets.map(() => Float64Array.from(chances));
  return {
    name,
    version: "1",
    actor: scriptActor(
      name,
      strategyPlayer(
        () => tree,
        () => strategy,
      ),
    ),
    strategy,
  };
};
const members = [
  member("rock", [1, 0, 0]),
  member("paper", [0, 1, 0]),
  member("scissors", [0, 0, 1]),
  member("even", [1 / 2, 1 / 3, 1 / 6]),
];
const options = { environment, games: 100, seed: 1, limit: limitConcurrency(8) };

async function pairingsOf(some: readonly LeagueMember[]) {
  const pairs = some.flatMap((first, i) => some.slice(i + 1).map((second) => [first, second] as const));
  return await Promise.all(pairs.map(([first, second]) => playPairing(first, second, options)));
}

test("league: pure moves beat each other in a circle, and the equilibrium expects nothing against any", async () => {
  const report = leagueReport(members, await pairingsOf(members), tree);
  assert.equal(report.exact, true);
  assert.deepEqual(report.circles, [["rock", "scissors", "paper"]]);
  const at = (a: string, b: string): number => {
    const place = (name: string) => report.members.findIndex((m) => m.name === name);
    return report.payoffs[place(a)]![place(b)]!;
  };
  assert.deepEqual([at("paper", "rock"), at("rock", "scissors"), at("scissors", "paper")], [1, 2, 3]);
  for (const name of ["rock", "paper", "scissors"]) {
    assert.ok(Math.abs(at("even", name)) < 1e-12);
    assert.ok(Math.abs(at(name, "even")) < 1e-12);
  }
  const exploited = new Map(report.members.map((m) => [m.name, m.exploitability!]));
  // what beats each wins its stake, from both roles
  assert.deepEqual([exploited.get("rock"), exploited.get("paper"), exploited.get("scissors")], [1, 3, 2]);
  assert.ok(exploited.get("even")! < 1e-12);
});

test("league: games alone show the circle too, where no strategy is known", async () => {
  const unknown = members.slice(0, 3).map(({ strategy: _, ...rest }) => rest);
  const report = leagueReport(unknown, await pairingsOf(unknown), tree);
  assert.equal(report.exact, false);
  assert.deepEqual(report.circles, [["rock", "scissors", "paper"]]);
  assert.equal(report.members[0]!.exploitability, undefined);
  // each won all games against one and lost all against another
  for (const { rating, won } of report.members) {
    assert.ok(Math.abs(rating.elo - 1500) < 1e-6);
    assert.equal(won, 0.5);
  }
});

test("league: a pair's games depend on the seed and the pair alone", async () => {
  const [rock, , , even] = members;
  const once = await playPairing(rock!, even!, options);
  await playPairing(members[1]!, even!, options);
  assert.deepEqual(await playPairing(rock!, even!, { ...options, limit: limitConcurrency(1) }), once);
  assert.notDeepEqual(await playPairing(rock!, even!, { ...options, seed: 2 }), once);
  assert.equal(once.games, 100);
  assert.equal(once.payoffs[0], -once.payoffs[1]);
});

test("league: who makes no move loses the forfeit, also to a role that never came to act", async () => {
  const mute = { name: "mute", version: "1", actor: scriptActor("mute", () => "…") };
  const { won, payoffs, games } = await playPairing(mute, members[0]!, options);
  assert.deepEqual([won, payoffs, games], [0, [-3, 3], 100]);
});

test("league: of each seat one game is kept, move by move in the order of play, for whoever watches", async () => {
  const { replays, first, second } = await playPairing(members[1]!, members[0]!, options);
  assert.deepEqual(
    replays.map(({ seat, payoffs, left }) => [seat, payoffs, left]),
    environment.roles.map((seat) => [seat, [1, -1], 0]),
  );
  for (const { seat, moves } of replays) {
    assert.deepEqual(
      moves.map(({ role }) => role),
      environment.roles,
    );
    for (const { role, by, said, read } of moves) {
      assert.equal(by, role === seat ? first : second);
      assert.equal(said, by);
      assert.ok(read.length > 0);
    }
  }
});

test("league: of a long game the beginning is kept, and what each player read is what was new to it", async () => {
  const { roles } = environment;
  const long: Environment = {
    ...environment,
    limits: { turns: 200, actionTokens: 8 },
    start: async () => {
      let turn = 0;
      return {
        observe: async () => {
          const role = roles[turn % 2]!;
          const content = turn < 2 ? "x".repeat(2000) : `turn ${turn}`;
          return { role, observation: { messages: [{ role: "user", content }] } };
        },
        act: async () => {
          turn++;
          return turn < 150 ? { rewards: {} } : { rewards: {}, end: { kind: "done", reason: "over" } };
        },
      };
    },
  };
  const { replays } = await playPairing(members[1]!, members[0]!, {
    ...options,
    environment: long,
    games: 2,
  });
  const [{ moves, left }] = replays as [(typeof replays)[number]];
  assert.deepEqual([moves.length, left], [100, 50]);
  assert.equal(moves[0]!.read.length, 601);
  assert.deepEqual([moves[2]!.read, moves[3]!.read], ["turn 2", "turn 3"]);
});

test("league: members are told apart by name alone, so that two may not share one", async () => {
  const twin = { ...members[1]!, name: "rock" };
  const both = [members[0]!, twin];
  const asked = async () => leagueReport(both, await pairingsOf(both), tree);
  await assert.rejects(asked, { code: "option.range", message: /two members called "rock"/ });
});
