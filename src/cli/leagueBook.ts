/**
 * The games of a league in a file, so that the same command goes on where it was cut off, and what they came to, which the dashboard
 * shows: one line that says what league it is, one for each pair, and the report last.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { makeFolder, replaceFile, writeError } from "../common/files/files.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import type { LeagueMember, LeagueReport, Pairing } from "../suite/league.ts";

/** Whatever the games depend on, beside the names of the members. */
export interface LeagueKey {
  readonly environment: string;
  readonly games: number;
  readonly seed: number;
}

type Named = Pick<LeagueMember, "name" | "version">;

export interface LeagueBook {
  find(first: Named, second: Named): Pairing | undefined;
  add(pairing: Pairing): void;
  /** All are played. */
  end(report: LeagueReport): void;
}

/**
 * @param file none: nothing is kept.
 * @throws WhetstoneError `config.invalid` where the file holds another league; `folder.unwritable` or `disk.write`.
 */
export async function leagueBook(file: string | undefined, key: LeagueKey): Promise<LeagueBook> {
  const known = file !== undefined && existsSync(file) ? pairingsIn(file, key) : [];
  const append = (line: object): void => {
    if (file === undefined) return;
    try {
      appendFileSync(file, `${JSON.stringify(line)}\n`);
    } catch (e) {
      throw writeError(file, e);
    }
  };
  if (file !== undefined) {
    await makeFolder(dirname(file));
    // also without a line that was cut off when the process was killed: its games are played again
    await replaceFile(file, [{ league: key }, ...known].map((line) => `${JSON.stringify(line)}\n`).join(""));
  }
  return {
    find: (first, second) =>
      known.find(
        (p) =>
          p.first === first.name &&
          p.second === second.name &&
          isDeepStrictEqual(p.versions, [first.version, second.version]),
      ),
    add: append,
    end: (report) => append({ report }),
  };
}

function pairingsIn(file: string, key: LeagueKey): readonly Pairing[] {
  const other = (got: string, cause?: unknown): WhetstoneError =>
    new WhetstoneError("config.invalid", {
      where: "--out",
      got: `${file}, which holds ${got}`,
      expected: `the games of a league of ${key.environment} with --games ${key.games} --seed ${key.seed}`,
      fix: "Name another file, or delete this one.",
      ...(cause === undefined ? {} : { cause }),
    });
  const text = readFileSync(file, "utf8");
  const lines = text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter(Boolean);
  try {
    const [first, ...rest] = lines.map((line) => JSON.parse(line) as object);
    if (isDeepStrictEqual(first, { league: key }))
      return rest.filter((line): line is Pairing => !("report" in line));
  } catch (e) {
    throw other(messageOf(e), e);
  }
  throw other("something else");
}
