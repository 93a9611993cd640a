/** Comparisons that `whetstone compare` wrote beside the store, as pages. */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { counted } from "../../common/text/counted.ts";
import type { RunStore } from "../../store/runStore.ts";
import { warningsOf } from "../../train/compare.ts";
import type { Gated } from "../auth.ts";
import { takes } from "../query.ts";
import type { ComparedMethodRow, ComparisonDetail, ComparisonRow, ComparisonsPage, Range } from "./types.ts";
import { json } from "./values.ts";

const report = "report.json";
/** Most bytes of a report that is read; a comparison of fifty methods takes about one. */
const most = 20_000_000;

/** JSON has no infinities and no NaN: what is missing is one. */
const number = z
  .number()
  .nullable()
  .transform((x) => x ?? Number.NaN);
const interval = z.object({ mean: number, low: number, high: number, n: z.number() });
const option = z.union([z.number(), z.string(), z.boolean()]);
const settings = z.record(z.string(), option);
const comparison = z.object({
  env: z.string(),
  engine: z.string(),
  model: z.string().optional(),
  seeds: z.array(z.number()),
  tuningSeeds: z.number(),
  iterations: z.number(),
  episodes: z.number().optional(),
  trainedShares: z.record(z.string(), z.number()).optional(),
  methods: z.array(
    z.object({
      method: z.string(),
      heldOut: z.record(z.string(), interval),
      training: interval,
      curve: z.array(number),
      episodes: number,
      tokens: number,
      seconds: number,
      against: z.record(z.string(), z.object({ difference: interval, improvement: number })).optional(),
      chosen: settings.optional(),
      tried: z.array(z.object({ choice: settings, training: number })).optional(),
      atEdge: z.array(z.string()).optional(),
      runs: z.array(z.object({ seed: z.number(), heldOut: z.record(z.string(), number) })),
    }),
  ),
});
type Read = z.infer<typeof comparison>;

/** Routes below `/api/comparisons`. */
export function comparisonRoutes({ file }: Pick<RunStore, "file">): Hono<Gated> {
  const folders = (): Promise<readonly string[]> => foldersBeside(file);
  return new Hono<Gated>()
    .get("/", takes(), async (c) => {
      const found = await Promise.all((await folders()).map(read));
      const comparisons = found.flatMap((one) => (one ? rowOf(one) : [])).sort((a, b) => b.at - a.at);
      return c.json({ comparisons } satisfies ComparisonsPage);
    })
    .get("/:id", takes(), async (c) => {
      const id = c.req.param("id");
      // only what was listed is read: a name from outside never becomes part of a path
      const folder = (await folders()).find((one) => basename(one) === id);
      const found = folder === undefined ? undefined : await read(folder);
      if (!found) {
        throw new HTTPException(404, {
          message: `There is no comparison ${id} beside this store. whetstone compare writes them into runs/.`,
        });
      }
      return c.json(detailOf(found) satisfies ComparisonDetail);
    });
}

/** The folder that a store lies in. A database elsewhere has none. */
export const besideStore = (file: string): string | undefined =>
  /^[a-z]+:\/\//.test(file) ? undefined : dirname(resolve(file));

/** The store's own folder and those in it. */
async function foldersBeside(file: string): Promise<readonly string[]> {
  const around = besideStore(file);
  if (around === undefined) return [];
  const entries = await readdir(around, { withFileTypes: true }).catch(() => []);
  return [around, ...entries.flatMap((one) => (one.isDirectory() ? join(around, one.name) : []))];
}

interface Found {
  readonly id: string;
  readonly at: number;
  readonly body: Read;
}

/** Nothing where there is no report, or something else of this name. */
async function read(folder: string): Promise<Found | undefined> {
  const file = join(folder, report);
  const there = await stat(file).catch(() => undefined);
  if (!there?.isFile() || there.size > most) return undefined;
  try {
    const body = comparison.safeParse(JSON.parse(await readFile(file, "utf8")));
    return body.success ? { id: basename(folder), at: there.mtimeMs, body: body.data } : undefined;
  } catch {
    return undefined;
  }
}

const rowOf = ({ id, at, body: { env, engine, seeds, methods } }: Found): ComparisonRow => ({
  id,
  env,
  engine,
  methods: methods.map(({ method }) => method),
  seeds: seeds.length,
  at,
});

const words = (chosen: Readonly<Record<string, unknown>>): string =>
  Object.entries(chosen)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");

function detailOf(found: Found): ComparisonDetail {
  const { model, seeds, tuningSeeds, iterations, episodes, trainedShares = {}, methods } = found.body;
  const splits = Object.keys(methods[0]?.heldOut ?? {});
  return {
    ...rowOf(found),
    ...(model !== undefined && { model }),
    budget:
      episodes === undefined
        ? `${counted(iterations, "iteration")} a run`
        : `${counted(episodes, "episode")} a run`,
    tuned: tuningSeeds > 0 ? `tuned on ${counted(tuningSeeds, "other seed")}` : "nothing was tuned",
    warnings: warningsOf(found.body),
    splits: splits.map((split) => ({
      split,
      trainedShare: trainedShares[split] ?? 0,
      rows: methods.flatMap((method) => methodRow(method, split)),
    })),
    runs: methods.flatMap(({ method, runs }) =>
      splits.map((split) => ({
        method,
        split,
        success: seeds.map((seed) =>
          json(runs.find((run) => run.seed === seed)?.heldOut[split] ?? Number.NaN),
        ),
      })),
    ),
    seedNumbers: seeds,
  };
}

function methodRow(m: Read["methods"][number], split: string): readonly ComparedMethodRow[] {
  const success = m.heldOut[split];
  if (!success) return [];
  const against = m.against?.[split];
  return [
    {
      method: m.method,
      success: within(success, 0),
      ...(against && {
        against: { difference: within(against.difference, -1), improvement: json(against.improvement) },
      }),
      training: within(m.training, 0),
      curve: m.curve.map(json),
      episodes: json(m.episodes),
      tokens: json(m.tokens),
      seconds: json(m.seconds),
      chosen: words(m.chosen ?? {}),
    },
  ];
}

/** A t interval of shares over few seeds may reach beyond what a share can be. @param least of what it can be; the highest is 1. */
function within({ mean, low, high, n }: z.infer<typeof interval>, least: 0 | -1): Range {
  return { mean: json(mean), low: json(Math.max(least, low)), high: json(Math.min(1, high)), n };
}
