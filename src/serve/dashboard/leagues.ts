/** Leagues that `whetstone league --out` wrote beside the store, as pages. */
import { open, readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import type { RunStore } from "../../store/runStore.ts";
import type { Gated } from "../auth.ts";
import { takes } from "../query.ts";
import { besideStore } from "./comparisons.ts";
import type { LeagueDetail, LeagueGames, LeagueRow, LeaguesPage } from "./types.ts";

/** Most bytes of a file that is read; a league of fifty takes a few million. */
const most = 20_000_000;
/** What the file of a league begins with. */
const beginning = '{"league":';

const header = z.object({
  league: z.object({ environment: z.string(), games: z.number(), seed: z.number() }),
});
const value = z.number().nullable();
const report = z.object({
  report: z.object({
    members: z.array(
      z.object({
        name: z.string(),
        rating: z.object({ elo: z.number(), low: z.number(), high: z.number() }),
        games: z.number(),
        won: value,
        exploitability: value.optional(),
        checkpoint: z.exactOptional(z.object({ run: z.string(), iteration: z.number() })),
      }),
    ),
    payoffs: z.array(z.array(value)),
    exact: z.boolean(),
    circles: z.array(z.array(z.string())),
    failed: z.number(),
  }),
});
const payoffs = z.tuple([z.number(), z.number()]);
const pairing = z.object({
  first: z.string(),
  second: z.string(),
  replays: z
    .array(
      z.object({
        seat: z.string(),
        moves: z.array(z.object({ role: z.string(), by: z.string(), read: z.string(), said: z.string() })),
        left: z.number(),
        payoffs,
      }),
    )
    // files of earlier versions have none
    .default([]),
});

interface Found {
  readonly id: string;
  readonly at: number;
  readonly league: z.infer<typeof header>["league"];
  /** One for each pair, as JSON: read only where its games are asked for. */
  readonly pairings: readonly string[];
  /** What it came to. A league that was cut off has none, and is no page. */
  readonly report: z.infer<typeof report>["report"];
}

/** Routes below `/api/leagues`. */
export function leagueRoutes({ file }: Pick<RunStore, "file">): Hono<Gated> {
  const found = async (id: string): Promise<Found> => {
    // only what was listed is read: a name from outside never becomes part of a path
    const path = (await filesBeside(file)).find((one) => basename(one) === id);
    const one = path === undefined ? undefined : await read(path);
    if (one) return one;
    throw new HTTPException(404, {
      message: `There is no finished league ${id} beside this store. whetstone league --out FILE writes one.`,
    });
  };
  return new Hono<Gated>()
    .get("/", takes(), async (c) => {
      const all = await Promise.all((await filesBeside(file)).map(read));
      const leagues = all.flatMap((one) => (one ? rowOf(one) : [])).sort((a, b) => b.at - a.at);
      return c.json({ leagues } satisfies LeaguesPage);
    })
    .get("/:id", takes(), async (c) => {
      const one = await found(c.req.param("id"));
      const { members, ...rest } = one.report;
      return c.json({
        ...rowOf(one),
        ...rest,
        standing: members.map(({ rating, exploitability = null, ...member }) => ({
          ...member,
          ...rating,
          exploitability,
        })),
      } satisfies LeagueDetail);
    })
    .get("/:id/games", takes("first", "second"), async (c) => {
      const { pairings } = await found(c.req.param("id"));
      const { first, second } = c.req.query();
      for (const line of pairings) {
        const games = gamesIn(line);
        if (games && [games.first, games.second].every((one) => one === first || one === second))
          return c.json(games satisfies LeagueGames);
      }
      throw new HTTPException(404, { message: `${first} and ${second} have not played here.` });
    });
}

/** The leagues in the store's own folder. */
async function filesBeside(file: string): Promise<readonly string[]> {
  const around = besideStore(file);
  if (around === undefined) return [];
  const names = await readdir(around).catch(() => []);
  const files = names.filter((name) => name.endsWith(".jsonl")).map((name) => join(around, name));
  const isLeague = await Promise.all(files.map((one) => begins(one).catch(() => false)));
  return files.filter((_, i) => isLeague[i]);
}

async function begins(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(beginning.length), 0, beginning.length, 0);
    return size <= most && buffer.toString("utf8", 0, bytesRead) === beginning;
  } finally {
    await handle.close();
  }
}

/** Nothing where the league was cut off, or the file holds something else. */
async function read(file: string): Promise<Found | undefined> {
  try {
    const text = await readFile(file, "utf8");
    const [first, ...rest] = text.split("\n").filter(Boolean);
    const last = rest.pop();
    const about = header.safeParse(JSON.parse(first ?? ""));
    const ended = report.safeParse(JSON.parse(last ?? ""));
    if (!about.success || !ended.success) return undefined;
    const { mtimeMs } = await stat(file);
    return {
      id: basename(file),
      at: mtimeMs,
      ...about.data,
      pairings: rest,
      ...ended.data,
    };
  } catch {
    return undefined;
  }
}

function gamesIn(line: string): LeagueGames | undefined {
  try {
    return pairing.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

const rowOf = ({ id, at, league: { environment, games }, report: { members } }: Found): LeagueRow => ({
  id,
  environment,
  members: members.length,
  gamesPerPair: games,
  at,
});
