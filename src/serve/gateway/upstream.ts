/** An OpenAI-compatible server as a backend. */
import { Readable } from "node:stream";
import { type Dispatcher, Pool } from "undici";
import { parsed } from "../../common/text/toolCalls.ts";
import { listOf, objectOf, textOf as textIn } from "../../core/json.ts";
import { said } from "../../http/body.ts";
import { decoded, textOf } from "./answerBody.ts";
import { type Answered, type Answerer, bodiless, type Call, type PassedCall } from "./answerer.ts";
import type { LogprobMode } from "./assemble.ts";
import { retried } from "./firstOf.ts";
import { withoutKeys } from "./headers.ts";
import type { Route } from "./protocol.ts";
import { guardedLookup, upstreamBase } from "./target.ts";

/** Settings of {@link upstream}. */
export interface UpstreamOptions {
  /** Base URL, with `/v1`. */
  readonly url: string;
  readonly model?: string;
  /** Sent as a bearer token, in place of the clients' own keys. */
  readonly key?: string;
  /** Without `key`: pass the clients' own keys on to this server. Default false. */
  readonly clientKeys?: boolean;
  readonly exact?: LogprobMode;
  /** Milliseconds until a response begins, and between its chunks. Default 10 minutes, since long reasoning may send nothing. */
  readonly patience?: number;
  /** Further tries where the call was not taken; see `retried`. Default 0. */
  readonly retries?: number;
}

/**
 * Calls go to that address only: redirects are passed on, not followed. Connections are kept alive. A call is sent once, and
 * again only where it was not taken (`retries`); a call with an `Idempotency-Key` is sent a second time if the connection
 * breaks before a response begins.
 * @throws WhetstoneError `config.invalid` for an address that may not be called.
 */
export function upstream(options: UpstreamOptions): Answerer {
  const { key, clientKeys = false, model, exact, patience = 600_000, retries = 0 } = options;
  const base = upstreamBase(options.url);
  const { origin, pathname } = new URL(base);
  const path = pathname === "/" ? "" : pathname;
  // one connection pool for the server, so that no call parses the URL or resolves the name again
  const pool = new Pool(origin, {
    connect: { lookup: guardedLookup, timeout: 10_000 },
    headersTimeout: patience,
    bodyTimeout: patience,
  });
  const credentialsOf = ({ credentials, keyHeader }: Pick<Call, "credentials" | "keyHeader">) => {
    if (key === undefined) return clientKeys ? credentials : {};
    if (isAzure(origin)) return { "api-key": key };
    return keyHeader === "x-api-key" ? { "x-api-key": key } : { authorization: `Bearer ${key}` };
  };
  const queryOf = (query = ""): string => (key === undefined && clientKeys ? query : withoutKeys(query));
  const post = (route: Route, call: Call): Promise<Answered> =>
    retried(() => postOnce(route, call), call, retries);

  async function postOnce(route: Route, call: Call): Promise<Answered> {
    const { body, headers, gone } = call;
    const query = queryOf(call.query);
    const send = () =>
      pool.request({
        path: `${path}${route}${query}`,
        method: "POST",
        signal: gone,
        // ask for an uncompressed body, since the gateway parses it
        headers: {
          ...headers,
          ...credentialsOf(call),
          "content-type": "application/json",
          "accept-encoding": "identity",
        },
        body,
      });
    const answer = await send().catch((e: unknown) => {
      if (!hasBroken(e) || gone.aborted) throw e;
      if (headers["idempotency-key"] === undefined) throw new Error(maybeTaken(e.message), { cause: e });
      return send();
    });
    if (bodiless.has(answer.statusCode)) {
      unread(answer);
      throw notFinal(answer.statusCode);
    }
    return plainly(answer);
  }
  async function pass({ method, path: below, body, headers, gone, query, ...keys }: PassedCall) {
    const answer = await pool.request({
      path: `${path}${below}${queryOf(query)}`,
      method: method as Dispatcher.HttpMethod,
      signal: gone,
      headers: { ...headers, ...credentialsOf(keys), "accept-encoding": "identity" },
      body: body ? Readable.from(body) : null,
    });
    if (!bodiless.has(answer.statusCode)) return plainly(answer);
    unread(answer);
    return { status: answer.statusCode, headers: single(answer.headers), body: Readable.from([]) };
  }
  return {
    ...(model === undefined ? {} : { model }),
    ...(exact === undefined ? {} : { exact }),
    chat: (call) => post("/chat/completions", call),
    others: {
      "/responses": (call) => post("/responses", call),
      "/messages": (call) => post("/messages", call),
      "/messages/count_tokens": (call) => post("/messages/count_tokens", call),
      "/embeddings": (call) => post("/embeddings", call),
      "/completions": (call) => post("/completions", call),
    },
    pass,

    async models(call) {
      const { headers, gone } = call;
      const answer = await pool.request({
        path: `${path}/models`,
        method: "GET",
        signal: AbortSignal.any([gone, AbortSignal.timeout(10_000)]),
        headers: { ...headers, ...credentialsOf(call) },
      });
      const plain = decoded(answer.body, single(answer.headers)["content-encoding"] ?? "");
      const list = plain && objectOf(parsed(await textOf(plain, mostListBytes)));
      return listOf(list?.data).flatMap((one) => textIn(objectOf(one)?.id) ?? []);
    },

    close: () => pool.close(),
  };
}

/** Whether a server is Azure's, which takes its keys in a header of its own. */
export const isAzure = (origin: string): boolean => /\.azure\.(com|cn|us)$/.test(new URL(origin).hostname);

/** Most bytes of a list of models. */
const mostListBytes = 4 << 20;

/**
 * The connection broke after the call was written and before a response began: the server may have processed the call, and may
 * charge for it. undici checks a kept connection before it writes, and moves unwritten calls to another connection. So a call
 * that fails here was written, and the gateway cannot tell whether the server has read it.
 */
const hasBroken = (e: unknown): e is Error =>
  e instanceof Error && "code" in e && typeof e.code === "string" && broken.has(e.code);

const broken: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);

const maybeTaken = (why: string): string =>
  `the connection broke before a response (${why}), and the upstream may have processed the call. It is retried only with an Idempotency-Key`;

const notFinal = (status: number): Error =>
  new Error(`it responded with status ${status}, which is not a final status`);

/** Gives up a body, whatever comes of it: one that is waited for may never end, and one that nobody reads keeps its connection. */
function unread({ body, statusCode }: Dispatcher.ResponseData): void {
  body.on("error", () => {});
  // these end with their head, and their connection can be used again
  if (statusCode === 204 || statusCode === 304) body.resume();
  else body.destroy();
}

/** An answer with its body decompressed. @throws Error for a status that is not final, or an encoding that nobody accepted. */
function plainly(answer: Dispatcher.ResponseData): Answered {
  if (answer.statusCode < 200 || answer.statusCode >= 600) {
    unread(answer);
    throw notFinal(answer.statusCode);
  }
  const headers = single(answer.headers);
  const encoding = headers["content-encoding"] ?? "";
  const body = decoded(answer.body, encoding);
  if (!body) {
    unread(answer);
    throw new Error(`it responded with the content encoding ${said(encoding)}, although none was accepted`);
  }
  return { status: answer.statusCode, headers, body };
}

const single = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === "string" ? value : value.join(", ")]],
    ),
  );
