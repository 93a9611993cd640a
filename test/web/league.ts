/** A finished league of two scripts and a run's two stages, as the command line writes it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { leagueBook } from "../../src/cli/leagueBook.ts";
import { scriptActor } from "../../src/rollout/actor.ts";
import { type LeagueMember, leagueReport, type Pairing } from "../../src/suite/league.ts";

const actor = scriptActor("none", () => "");
const members: readonly LeagueMember[] = [
  { name: "reference", version: "script", actor },
  { name: "random", version: "script", actor },
  { name: "runs/a/kept/00000000", version: "v0", actor, checkpoint: { run: "runs/a", iteration: 0 } },
  { name: "runs/a/kept/00000010", version: "v10", actor, checkpoint: { run: "runs/a", iteration: 10 } },
];

/** @param folder of the store. */
export async function league(folder: string, name = "league.jsonl"): Promise<void> {
  const book = await leagueBook(join(folder, name), { environment: "kuhn-poker", games: 10, seed: 1 });
  const pairings = members.flatMap((first, i) =>
    members.slice(i + 1).map(
      (second): Pairing => ({
        first: first.name,
        second: second.name,
        games: 10,
        won: 6,
        payoffs: [0.25, -0.25],
        failed: 0,
        versions: [first.version, second.version],
        replays: [
          {
            seat: "first",
            moves: [
              { role: "first", by: first.name, read: "your card is jack", said: "bet" },
              { role: "second", by: second.name, read: "they bet", said: "fold" },
            ],
            left: 0,
            payoffs: [1, -1],
          },
        ],
      }),
    ),
  );
  for (const one of pairings) book.add(one);
  book.end(leagueReport(members, pairings, undefined));
}

/** Files that are no finished league. */
export function noLeagues(folder: string): void {
  const about = '{"league":{"environment":"kuhn-poker","games":10,"seed":1}}';
  writeFileSync(join(folder, "cut.jsonl"), `${about}\n{"first":"a","sec`);
  writeFileSync(join(folder, "short.jsonl"), `${about}\n`);
  writeFileSync(join(folder, "other.jsonl"), '{"a":1}\n');
}
