/** JSON API of the dashboard's pages; updates are sent as server-sent events. */
import { Hono } from "hono";
import { compress } from "hono/compress";
import { HTTPException } from "hono/http-exception";
import { streamSSE } from "hono/streaming";
import { z } from "zod";
import { messageOf } from "../../core/errors.ts";
import { healthOf } from "../../diagnose/health/health.ts";
import type { Metric, Run, RunStore } from "../../store/runStore.ts";
import type { Gate, Gated } from "../auth.ts";
import { checked } from "../checked.ts";
import { takes } from "../query.ts";
import { isRefused, refusal } from "../refusal.ts";
import { spellings } from "../spelling.ts";
import { type ArtefactSources, artefactRoutes } from "./artefacts.ts";
import { compared } from "./compare.ts";
import { comparisonRoutes } from "./comparisons.ts";
import { computedInWords } from "./computed.ts";
import { episodeDetail } from "./episodes.ts";
import { episodeGroup, foundEpisode } from "./foundEpisodes.ts";
import { progressOf } from "./headline.ts";
import { leagueRoutes } from "./leagues.ts";
import { methodRoutes } from "./methods.ts";
import { curveRanges } from "./ranges.ts";
import { runRows } from "./runRows.ts";
import { taskRoutes } from "./tasks.ts";
import type {
  ComparePage,
  Curves,
  EpisodeDetail,
  EpisodeGroupsPage,
  EpisodesPage,
  RunDetail,
  RunRow,
  RunsChange,
  RunsPage,
  Value,
} from "./types.ts";
import { json } from "./values.ts";

/** Milliseconds between reads of a store that another process writes. */
const lookEvery = 1000;

/** Routes below `/api`: reading needs the scope `read`, setting tags the scope `admin`. */
export function dashboardApi(
  store: RunStore,
  production: ArtefactSources["production"],
  gate: Gate,
): Hono<Gated> {
  const rows = runRows(store);
  const spelling = spellings();
  const rangesOf = curveRanges(store);
  const api = new Hono<Gated>();
  api.on("GET", "*", gate.allow("read"));
  // event streams are not compressed, so events are sent without delay
  api.use(compress());
  api.get("/runs", takes(), async (c) => c.json({ runs: await rows.all() } satisfies RunsPage));
  api.get("/runs/live", (c) =>
    streamSSE(c, async (stream) => {
      const changes = rows.changes();
      while (!stream.aborted) {
        for await (const change of changes()) {
          await stream.writeSSE({ event: "runs", data: JSON.stringify(change satisfies RunsChange) });
        }
        await stream.sleep(lookEvery);
      }
    }),
  );
  const found = async (name: string): Promise<Run> => {
    const run = await store.run(name);
    if (run?.id === name) return run;
    throw new HTTPException(404, { message: noRun(name, run) });
  };
  api.get("/compare", takes("run*"), async (c) => {
    const asked = c.req.queries("run") ?? [];
    const chosen = await Promise.all(
      asked.map(async (id) => {
        const run = await found(id);
        return { run, row: await rows.of(run) };
      }),
    );
    return c.json((await compared(store, chosen)) satisfies ComparePage);
  });
  api.get("/runs/:id", takes(), async (c) => {
    const run = await found(c.req.param("id"));
    return c.json((await detailOf(store, run, await rows.of(run))) satisfies RunDetail);
  });
  api.post("/runs/:id/tags", gate.allow("admin"), async (c) => {
    const run = await found(c.req.param("id"));
    const body = await checked(c.req.raw, tagsAsked);
    if (isRefused(body)) return refusal(body);
    await store.setTags(run.id, body.tags);
    return c.json(body);
  });
  api.get("/runs/:id/curves", takes(...Object.keys(curvesAsked.shape)), async (c) => {
    const run = await found(c.req.param("id"));
    const asked = curvesAsked.safeParse(c.req.query());
    if (!asked.success) throw new HTTPException(400, { message: z.prettifyError(asked.error) });
    const { names, points, from, until, ranges } = asked.data;
    const within = { from: from ?? 0, until: until ?? Number.MAX_SAFE_INTEGER };
    const curves = curvesOf(await store.curves(run.id, names, points, within), names);
    if (ranges !== "true") return c.json(curves satisfies Curves);
    const last = await store.measured(run.id);
    const extents = await rangesOf(run.id, last.iterations, names, curves.iteration, within);
    return c.json({ ...curves, ranges: extents } satisfies Curves);
  });
  api.get("/runs/:id/live", async (c) => {
    const { id } = await found(c.req.param("id"));
    return streamSSE(c, async (stream) => {
      let told = "";
      while (!stream.aborted) {
        const run = await store.run(id);
        const now = run?.id === id ? JSON.stringify(await rows.of(run)) : told;
        if (now !== told) await stream.writeSSE({ event: "run", data: now });
        told = now;
        await stream.sleep(lookEvery);
      }
    });
  });
  api.get("/runs/:id/episodes", takes(...Object.keys(episodesAsked.shape)), async (c) => {
    const run = await found(c.req.param("id"));
    const asked = episodesAsked.safeParse(c.req.query());
    if (!asked.success) throw new HTTPException(400, { message: z.prettifyError(asked.error) });
    const { found: rows, total } = await store.searchTrajectories(run.id, asked.data);
    const page = { episodes: rows.map((one) => foundEpisode(one)), total, offset: asked.data.offset };
    return c.json(page satisfies EpisodesPage);
  });
  api.get("/runs/:id/groups", takes(...Object.keys(episodesAsked.shape)), async (c) => {
    const run = await found(c.req.param("id"));
    const asked = episodesAsked.safeParse(c.req.query());
    if (!asked.success) throw new HTTPException(400, { message: z.prettifyError(asked.error) });
    const { found: groups, total } = await store.searchGroups(run.id, asked.data);
    const page = { groups: groups.map(episodeGroup), total, offset: asked.data.offset };
    return c.json(page satisfies EpisodeGroupsPage);
  });
  api.get("/runs/:id/episode", takes(...Object.keys(episodeAsked.shape)), async (c) => {
    const run = await found(c.req.param("id"));
    const asked = episodeAsked.safeParse(c.req.query());
    if (!asked.success) throw new HTTPException(400, { message: z.prettifyError(asked.error) });
    const { id, phase, iteration } = asked.data;
    const all = await store.trajectories(run.id, { iteration, phase });
    const one = all.find((t) => t.id === id);
    if (!one) {
      throw new HTTPException(404, {
        message: `Episode ${id} of iteration ${iteration} is not stored: of older iterations, the store keeps failures and one episode in a hundred.`,
      });
    }
    const family = await Promise.all(
      all
        .filter((t) => t.task === one.task && t.role === one.role)
        .map((t) => store.trajectory(run.id, { iteration, phase, id: t.id })),
    );
    const there = family.filter((t) => t !== undefined);
    const shown = there.find((t) => t.id === id) ?? there[0]!;
    return c.json(episodeDetail(shown, there, await spelling(run.folder)) satisfies EpisodeDetail);
  });
  api.route("/", taskRoutes(store, found));
  api.route("/comparisons", comparisonRoutes(store));
  api.route("/leagues", leagueRoutes(store));
  api.route("/methods", methodRoutes());
  api.route("/artefacts", artefactRoutes({ store, production }));
  // otherwise the page would answer, since it is served at every other path
  api.all("*", (c) => c.json({ error: { message: `There is no ${c.req.path} here.` } }, 404));
  api.onError((e, c) => {
    // other errors go to the server's error handler, which logs them
    if (!(e instanceof HTTPException)) throw e;
    return c.json({ error: { message: messageOf(e) } }, e.status);
  });
  return api;
}

/** @param of that name, whose page has another address. */
const noRun = (name: string, of: Run | undefined): string =>
  of
    ? `The run named ${name} has the id ${of.id}: its page is /runs/${of.id}.`
    : `There is no run ${name} in this store.`;

const count = z.coerce.number().int().min(0);
const tagsAsked = z.object({ tags: z.array(z.string().trim().min(1).max(60)).max(50) });
const curvesAsked = z.object({
  names: z.string().transform((names) => names.split(",").filter(Boolean)),
  points: count.min(2).max(5000).default(600),
  from: count.optional(),
  until: count.optional(),
  ranges: z.enum(["true", "false"]).default("false"),
});

const episodesAsked = z.object({
  from: count.optional(),
  until: count.optional(),
  outcome: z.enum(["success", "no success", "done", "truncated", "failed"]).optional(),
  least: z.coerce.number().optional(),
  most: z.coerce.number().optional(),
  phase: z.string().optional(),
  task: z.string().optional(),
  text: z.string().optional(),
  order: z.enum(["newest", "best", "worst", "longest"]).default("newest"),
  offset: count.default(0),
  limit: count.min(1).max(200).default(50),
});
const episodeAsked = z.object({ id: z.string(), phase: z.string(), iteration: count });

async function detailOf(store: RunStore, run: Run, row: RunRow): Promise<RunDetail> {
  const { names } = await store.measured(run.id);
  const evaluations = await store.evaluations(run.id);
  return {
    ...row,
    computed: computedInWords(run),
    folder: run.folder,
    config: run.config,
    evaluations,
    progress: progressOf(evaluations),
    metrics: names,
    health: await healthOf(store, run.id),
  };
}

/** Curves of all metrics over the union of their iterations. */
function curvesOf(metrics: readonly Metric[], names: readonly string[]): Curves {
  const iteration = [...new Set(metrics.map((m) => m.iteration))];
  const at = new Map(iteration.map((k, i) => [k, i]));
  const values = Object.fromEntries(
    names.map((name) => [name, new Array<Value>(iteration.length).fill(null)]),
  );
  for (const m of metrics) values[m.name]![at.get(m.iteration)!] = json(m.value);
  return { iteration, values };
}
