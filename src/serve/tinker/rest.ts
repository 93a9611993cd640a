/** The REST part of the API: training runs, checkpoints, copies, expiry, downloads, sessions. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { attributesOf, copyRequest, type Part, part, ttlRange, ttlRequest } from "./bodies.ts";
import { fitting, read } from "./body.ts";
import type { CheckpointAttributes, Saved } from "./checkpoints.ts";
import { type Fault, isFault } from "./fault.ts";
import { checkpointJson, filesOf, runJson } from "./runs.ts";
import type { Service } from "./service.ts";

const missing = (message: string): HTTPException => new HTTPException(404, { message });

function requireThere(wrong: Fault | undefined): void {
  if (wrong) throw missing(wrong.error);
}

const partOf = (c: Context): Part => fitting(part, c.req.query());
const cut = <T>(all: readonly T[], { limit, offset }: Part) => ({
  items: all.slice(offset, offset + limit),
  cursor: { offset, limit, total_count: all.length },
});

function requireMarks(ttlSeconds: number | null | undefined): CheckpointAttributes {
  const marks = attributesOf(ttlSeconds);
  if (marks) return marks;
  throw new HTTPException(400, { message: ttlRange });
}

/** Finds a checkpoint by the parts of a request's path. */
async function savedAt(api: Service, c: Context): Promise<Saved> {
  const { id, kind, name } = c.req.param();
  const saved = await api.store.find(`tinker://${id}/${kind}/${name}`);
  if (isFault(saved)) throw missing(saved.error);
  return saved;
}

/** Signed download URLs for checkpoint files. They need no key and are valid for one hour, or until this process ends. */
export interface Downloads {
  urls(
    c: Context,
    saved: Saved,
  ): Promise<{ readonly urls: Readonly<Record<string, string>>; expires: string }>;
  /** Adds the download routes, which need no key. */
  serve(app: Hono, api: Service): void;
}

export function downloads(): Downloads {
  const secret = randomBytes(32);
  const sign = (path: string, file: string, expires: string): Buffer =>
    createHmac("sha256", secret)
      .update(JSON.stringify([path, file, expires]))
      .digest();
  return {
    async urls(c, { path, folder }) {
      const expires = new Date(Date.now() + 3_600_000).toISOString();
      const files = await filesOf(folder);
      const urlOf = (file: string): string => {
        const url = new URL("/api/v1/files", c.req.url);
        const signature = sign(path, file, expires).toString("hex");
        url.search = new URLSearchParams({ path, file, expires, signature }).toString();
        return url.href;
      };
      return { urls: Object.fromEntries(files.map((file) => [file, urlOf(file)])), expires };
    },
    serve(app, api) {
      app.get("/files", async (c) => {
        const { path = "", file = "", expires = "", signature = "" } = c.req.query();
        const given = Buffer.from(signature, "hex");
        const right = sign(path, file, expires);
        const signed = given.length === right.length && timingSafeEqual(given, right);
        if (!signed || Date.parse(expires) < Date.now()) {
          throw new HTTPException(403, {
            message:
              "the download URL is invalid or has expired. Request a new one: get_external_weights_urls.",
          });
        }
        const saved = await api.store.find(path);
        if (isFault(saved)) throw missing(saved.error);
        const there = await stat(join(saved.folder, file)).catch(() => undefined);
        if (!there) throw missing(`no file ${file} in ${path} any more.`);
        const { size } = there;
        const stream = Readable.toWeb(createReadStream(join(saved.folder, file)));
        return new Response(stream, {
          headers: { "content-type": "application/octet-stream", "content-length": `${size}` },
        });
      });
    },
  };
}

export function restRoutes(app: Hono, api: Service, files: Downloads): void {
  const runs = "/training_runs";
  const checkpoint = `${runs}/:id/checkpoints/:kind/:name`;

  app.get(runs, async (c) => {
    const found = await Promise.all((await api.runs()).map((id) => runJson(api.store, id, api.live(id))));
    const { items, cursor } = cut(
      found.filter((run) => run !== undefined),
      partOf(c),
    );
    return c.json({ training_runs: items, cursor });
  });
  app.get(`${runs}/:id`, async (c) => {
    const id = c.req.param("id");
    const run = await runJson(api.store, id, api.live(id));
    if (run) return c.json(run);
    throw missing(`no training run ${id.slice(0, 200)}: it has no checkpoint here and is not being trained.`);
  });
  app.get(`${runs}/:id/checkpoints`, async (c) => {
    const saved = await api.store.list(c.req.param("id"));
    return c.json({ checkpoints: await Promise.all(saved.map(checkpointJson)) });
  });
  app.get("/checkpoints", async (c) => {
    const all = await Promise.all((await api.store.models()).map((id) => api.store.list(id)));
    const newest = all.flat().toSorted((a, b) => b.time.getTime() - a.time.getTime());
    const { items, cursor } = cut(newest, partOf(c));
    return c.json({ checkpoints: await Promise.all(items.map(checkpointJson)), cursor });
  });
  app.delete(checkpoint, async (c) => {
    await api.store.remove(await savedAt(api, c));
    return c.body(null, 204);
  });
  app.put(`${checkpoint}/ttl`, async (c) => {
    const { ttl_seconds } = await read(c, ttlRequest);
    const saved = await savedAt(api, c);
    const { expires: _, ...others } = saved.marks;
    requireThere(await api.store.mark(saved, { ...others, ...requireMarks(ttl_seconds) }));
    return c.body(null, 204);
  });
  app.post(`${checkpoint}/publish`, async (c) => {
    const saved = await savedAt(api, c);
    requireThere(await api.store.mark(saved, { ...saved.marks, public: true }));
    return c.body(null, 204);
  });
  app.delete(`${checkpoint}/publish`, async (c) => {
    const saved = await savedAt(api, c);
    const { public: _, ...others } = saved.marks;
    requireThere(await api.store.mark(saved, others));
    return c.body(null, 204);
  });
  app.get(`${checkpoint}/external_weights_urls`, async (c) =>
    c.json(await files.urls(c, await savedAt(api, c))),
  );

  app.post("/weights_info", async (c) => {
    const saved = await api.store.find((await read(c, z.object({ tinker_path: z.string() }))).tinker_path);
    if (isFault(saved)) throw missing(saved.error);
    return c.json({ ...saved.about, is_lora: saved.about.lora_rank !== undefined });
  });
  app.post("/copy_weights", async (c) => {
    const body = await read(c, copyRequest);
    const marks = requireMarks(body.ttl_seconds);
    const path = await api.copy(body, marks, c.req.header("x-idempotency-key"));
    if (isFault(path)) throw new HTTPException(400, { message: path.error });
    return c.json({ tinker_path: path });
  });

  app.get("/sessions", (c) => c.json({ sessions: cut(api.sessions(), partOf(c)).items }));
  app.get("/sessions/:id", (c) => c.json(api.session(c.req.param("id"))));
}
