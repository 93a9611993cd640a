/** HTTP routes for versions and splits: lists them, judges them, adds new ones. */
import { Hono } from "hono";
import { z } from "zod";
import { unknownName } from "../common/text/suggest.ts";
import { isWhetstoneError } from "../core/errors.ts";
import type { TrafficSplit, Version } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import {
  type ReleaseControllerOptions,
  type ReleaseState,
  releaseController,
} from "../release/controller.ts";
import { artefactNamed } from "../store/artefactNamed.ts";
import { keptVersion } from "../store/keptVersion.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import { artefactInline, inlineArtefact } from "./artefactInline.ts";
import type { Gate, Gated } from "./auth.ts";
import { checked } from "./checked.ts";
import { orderOf, versionOf } from "./gateway/open.ts";
import { takes } from "./query.ts";
import { isRefused, type Refused, refusal } from "./refusal.ts";
import { versionWithArtefact } from "./versionWithArtefact.ts";

const id = z.string().min(1).max(256);
const text = z.string().min(1).max(2000);
const upstreamBody = z.strictObject({
  /** Base URL, with /v1, of an OpenAI-compatible server. */
  url: z.string().min(1).max(2000),
  model: id.optional(),
  keyEnv: id.optional(),
  exact: z.enum(["raw", "processed"]).optional(),
  /** Milliseconds until an answer begins, and between its parts. */
  timeout: z.number().int().min(1).max(3_600_000).optional(),
  /** Further tries of a call that was not taken. */
  retries: z.number().int().min(0).max(10).optional(),
  note: text.optional(),
  parent: id.optional(),
});
const orderBody = z.strictObject({
  /** Ids of versions: the first that can be reached and does not refuse answers. */
  firstOf: z.array(id).min(2).max(10),
  note: text.optional(),
  parent: id.optional(),
});
const toldBody = z.strictObject({
  /** An artefact of the store, by id or name. */
  artefact: id,
  /** Id of the version that answers. Default: the one with the largest share. */
  over: id.optional(),
  /** Id of the version that writes the hints, if the artefact is a guide. */
  guide: id.optional(),
  note: text.optional(),
  parent: id.optional(),
});
const inlineBody = toldBody.extend({ artefact: inlineArtefact });
const splitBody = z.strictObject({
  shares: z.record(id, z.number()),
  unit: z.enum(["session", "user", "response"]).optional(),
  why: text.optional(),
});

/** Settings of {@link versionRoutes}. */
export interface VersionRouteOptions {
  readonly production: TrafficStore;
  readonly gate: Gate;
  /** How versions are judged. */
  readonly release?: Omit<ReleaseControllerOptions, "production">;
}

/** Response of `GET /v1/versions`. */
export interface VersionsBody {
  readonly versions: readonly Version[];
  /** The current split. */
  readonly split: TrafficSplit | null;
}
/** Response of `GET /v1/versions/judgement`; NaN is null. */
export type JudgementBody = ReleaseState;

/**
 * A judgement is cached for at least `fresh` milliseconds and at least `rest` times as long as it took to compute: it reads
 * all responses of the split, and frequent requests must not block the store for other clients.
 */
const [fresh, rest] = [5000, 10];

/** `GET` and `POST /v1/versions`, `GET /v1/versions/judgement`, `GET` and `POST /v1/splits`. */
export function versionRoutes({ production, gate, release: options }: VersionRouteOptions): Hono<Gated> {
  const controller = releaseController({ ...options, production });
  const judged = rarely(controller.state, gate.now);
  return new Hono<Gated>()
    .get("/v1/versions", gate.allow("read"), takes(), async (c) => {
      const split = (await production.splits()).at(-1) ?? null;
      const body: VersionsBody = { versions: await production.versions(), split };
      return c.json(body);
    })
    .get("/v1/versions/judgement", gate.allow("read"), takes(), async (c) => {
      return c.json(await judged());
    })
    .post("/v1/versions", gate.allow("admin"), async (c) => {
      const body = await checked<VersionBody>(c.req.raw, bodySchema);
      if (isRefused(body)) return refusal(body);
      const known = await production.versions();
      const made = await refusing(() => newVersion(body, production, known, gate.now()));
      if (isRefused(made)) return refusal(made);
      const wrong = strange(made, known);
      if (wrong) return refusal(wrong);
      const { version, added } = await keptVersion(production, made);
      return c.json(version, added ? 201 : 200);
    })
    .get("/v1/splits", gate.allow("read"), takes(), async (c) => {
      return c.json({ splits: await production.splits() });
    })
    .post("/v1/splits", gate.allow("admin"), async (c) => {
      const body = await checked(c.req.raw, splitBody);
      if (isRefused(body)) return refusal(body);
      try {
        const made = await controller.split(body.shares, body.why ?? "set over HTTP", body.unit);
        judged.forget();
        return c.json(made, 201);
      } catch (e) {
        const refused = refusalOf(e);
        if (refused) return refusal(refused);
        throw e;
      }
    });
}

type VersionBody =
  | z.output<typeof upstreamBody>
  | z.output<typeof orderBody>
  | z.output<typeof toldBody>
  | z.output<typeof inlineBody>;

/** Chooses the schema by the body's fields. */
function bodySchema(body: unknown): z.ZodType<VersionBody> {
  if (typeof body === "object" && body !== null && "firstOf" in body) return orderBody;
  if (typeof body !== "object" || body === null || !("artefact" in body)) return upstreamBody;
  return typeof body.artefact === "string" ? toldBody : inlineBody;
}

async function newVersion(
  body: VersionBody,
  production: TrafficStore,
  known: readonly Version[],
  now: number,
): Promise<Version> {
  const { note, parent } = body;
  if (parent !== undefined) versionById(known, parent, "parent");
  const stated =
    "url" in body
      ? upstreamVersion(body, now)
      : "firstOf" in body
        ? orderOf(
            body.firstOf.map((id) => versionById(known, id, "firstOf")),
            now,
          )
        : await toldByBody(body, production, known, now);
  return { ...stated, ...(note === undefined ? {} : { note }), ...(parent === undefined ? {} : { parent }) };
}

const upstreamVersion = (
  { url, model, keyEnv, exact, timeout, retries }: z.output<typeof upstreamBody>,
  now: number,
): Version =>
  versionOf(
    {
      kind: "upstream",
      url,
      ...(model === undefined ? {} : { model }),
      ...(keyEnv === undefined ? {} : { keyEnv }),
      ...(exact === undefined ? {} : { exact }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(retries === undefined ? {} : { retries }),
    },
    now,
  );

async function toldByBody(
  { artefact, over, guide }: z.output<typeof toldBody> | z.output<typeof inlineBody>,
  production: TrafficStore,
  known: readonly Version[],
  now: number,
): Promise<Version> {
  const kept = production.artefacts;
  const told = {
    artefact:
      typeof artefact === "string"
        ? await artefactNamed(kept, artefact, "artefact")
        : await artefactInline(artefact, kept, now),
    ...(over === undefined ? {} : { over: versionById(known, over, "over") }),
    ...(guide === undefined ? {} : { guide: versionById(known, guide, "guide") }),
  };
  return await versionWithArtefact(told, { production, known, now, field: (name) => name });
}

function versionById(known: readonly Version[], id: Id, where: string): Version {
  const found = known.find((version) => version.id === id);
  if (found) return found;
  throw unknownName(
    where,
    id,
    known.map((version) => version.id),
  );
}

/** A version added over HTTP may send a secret of this machine only to a URL that already receives it. */
function strange({ backend }: Version, known: readonly Version[]): Refused | undefined {
  if (backend.kind !== "upstream" || backend.keyEnv === undefined) return undefined;
  const { url, keyEnv } = backend;
  const before = known.some(
    (v) => v.backend.kind === "upstream" && v.backend.keyEnv === keyEnv && v.backend.url === url,
  );
  return before ? undefined : newSecret;
}

const wrongRequest: ReadonlySet<string> = new Set([
  "option.range",
  "name.unknown",
  "config.invalid",
  "import.invalid",
]);

/** Maps errors of the core about invalid input to a refusal. */
function refusalOf(e: unknown): Refused | undefined {
  if (!isWhetstoneError(e)) return undefined;
  return wrongRequest.has(e.code) ? { status: 400, code: "invalid_request", message: e.message } : undefined;
}

async function refusing<T>(work: () => Promise<T>): Promise<T | Refused> {
  try {
    return await work();
  } catch (e) {
    const refused = refusalOf(e);
    if (refused) return refused;
    throw e;
  }
}

/** Caches a result for a while; concurrent callers share one computation. */
function rarely<T>(work: () => Promise<T>, now: () => number): (() => Promise<T>) & { forget(): void } {
  let last: { readonly at: number; readonly answer: Promise<T>; lasts: number } | undefined;
  const ask = (): Promise<T> => {
    if (last && Math.abs(now() - last.at) < last.lasts) return last.answer;
    const made = { at: now(), answer: work(), lasts: Number.POSITIVE_INFINITY };
    last = made;
    made.answer.then(
      () => {
        made.lasts = Math.max(fresh, rest * Math.abs(now() - made.at));
      },
      () => {
        if (last === made) last = undefined;
      },
    );
    return made.answer;
  };
  return Object.assign(ask, {
    forget: () => {
      last = undefined;
    },
  });
}

const newSecret: Refused = {
  status: 400,
  code: "invalid_request",
  message:
    "keyEnv: expected a variable that a version of the same url already uses. Add the first such version with: whetstone versions add.",
};
