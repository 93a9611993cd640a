import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeagueDetail, LeagueGames, LeaguesPage } from "../../../src/serve/dashboard/types.ts";
import { league, noLeagues } from "../../web/league.ts";
import { world } from "./world.ts";

test("a league beside the store is listed and shown, with its games; what was cut off or is something else is not", async (t) => {
  const { folder, get, refused } = await world(t);
  assert.deepEqual(await get<LeaguesPage>("/api/leagues"), { leagues: [] });
  await league(folder);
  noLeagues(folder);
  const { leagues } = await get<LeaguesPage>("/api/leagues");
  assert.deepEqual(
    leagues.map(({ id, environment, members, gamesPerPair }) => [id, environment, members, gamesPerPair]),
    [["league.jsonl", "kuhn-poker", 4, 10]],
  );
  const { standing, payoffs, exact } = await get<LeagueDetail>("/api/leagues/league.jsonl");
  assert.deepEqual(
    standing.map(({ name, won, exploitability, checkpoint }) => [
      name,
      won,
      exploitability,
      checkpoint?.iteration,
    ]),
    [
      ["reference", 0.6, null, undefined],
      ["random", 16 / 30, null, undefined],
      ["runs/a/kept/00000000", 14 / 30, null, 0],
      ["runs/a/kept/00000010", 0.4, null, 10],
    ],
  );
  assert.deepEqual([payoffs[0]![1], payoffs[1]![0], exact], [0.25, -0.25, false]);
  const pair = (first: string, second: string) =>
    `/api/leagues/league.jsonl/games?${new URLSearchParams({ first, second })}`;
  const games = await get<LeagueGames>(pair("random", "reference"));
  assert.deepEqual([games.first, games.second], ["reference", "random"]);
  assert.equal(games.replays[0]?.moves[1]?.said, "fold");
  assert.equal((await refused(pair("random", "nobody"))).status, 404);
  for (const id of [
    "none",
    "cut.jsonl",
    "short.jsonl",
    "other.jsonl",
    "..%2Fleague.jsonl",
    "whetstone.sqlite",
  ])
    assert.equal((await refused(`/api/leagues/${id}`)).status, 404, id);
});
