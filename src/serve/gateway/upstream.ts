/** An OpenAI-compatible server that answers. */
import { Pool } from "undici";
import { parsed } from "../../common/text/toolCalls.ts";
import { listOf, objectOf, textOf as textIn } from "../../core/json.ts";
import { said } from "../../http/body.ts";
import { decoded, textOf } from "./answerBody.ts";
import type { Answerer, Call } from "./answerer.ts";
import type { LogprobMode } from "./assemble.ts";
import { guardedLookup, upstreamBase } from "./target.ts";

/** Settings of {@link upstream}. */
export interface UpstreamOptions {
  /** With `/v1`. */
  readonly url: string;
  readonly model?: string;
  /** Sent as a bearer token, in place of what clients send. */
  readonly key?: string;
  /** Where there is no key: clients' own are meant for this server, and passed on. Default: they are not. */
  readonly clientKeys?: boolean;
  readonly exact?: LogprobMode;
  /** Milliseconds until an answer begins, and between its pieces. Default 10 minutes: long thoughts are silent. */
  readonly patience?: number;
}

/**
 * Calls go to that address alone: redirects are answers like any other, and are not followed. Connections are kept. A call is sent
 * once; one with an `Idempotency-Key` once more, where the connection breaks before an answer begins.
 * @throws WhetstoneError `config.invalid` for an address that may not be called.
 */
export function upstream(options: UpstreamOptions): Answerer {
  const { key, clientKeys = false, model, exact, patience = 600_000 } = options;
  const base = upstreamBase(options.url);
  const { origin, pathname } = new URL(base);
  const path = pathname === "/" ? "" : pathname;
  // one pool for one server: nothing is looked up and no address read call by call
  const pool = new Pool(origin, {
    connect: { lookup: guardedLookup, timeout: 10_000 },
    headersTimeout: patience,
    bodyTimeout: patience,
  });
  const credentialsOf = ({ credentials }: Pick<Call, "credentials">): Call["credentials"] => {
    if (key !== undefined) return { authorization: `Bearer ${key}` };
    return clientKeys ? credentials : {};
  };
  return {
    ...(model === undefined ? {} : { model }),
    ...(exact === undefined ? {} : { exact }),

    async chat(call) {
      const { body, headers, gone } = call;
      const send = () =>
        pool.request({
          path: `${path}/chat/completions`,
          method: "POST",
          signal: gone,
          // plain bytes, since they are looked at
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
      if (!isAnswer(answer.statusCode)) {
        await answer.body.dump();
        throw new Error(`it answered with status ${answer.statusCode}, which no answer has`);
      }
      const read = single(answer.headers);
      const encoding = read["content-encoding"] ?? "";
      const plain = decoded(answer.body, encoding);
      if (!plain) {
        await answer.body.dump();
        throw new Error(`it answered in the encoding ${said(encoding)}, and was asked for none`);
      }
      return { status: answer.statusCode, headers: read, body: plain };
    },

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

/** Of names of models. */
const mostListBytes = 4 << 20;

/**
 * A connection broke before an answer began, and the call was on its way: the server may have taken it, and is paid for it. undici
 * looks whether a kept connection is still there before it writes, and takes another one for what it has not begun to write. What
 * fails here was written, and nothing that a client sees tells a server that has read it from one that has not.
 */
const hasBroken = (e: unknown): e is Error =>
  e instanceof Error && "code" in e && typeof e.code === "string" && broken.has(e.code);

const broken: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);

const maybeTaken = (why: string): string =>
  `the connection broke before an answer (${why}), and the upstream may have taken the call. It is sent again only with an Idempotency-Key`;

/** A status that can be handed on with a body. */
const isAnswer = (status: number): boolean =>
  status >= 200 && status < 600 && ![204, 205, 304].includes(status);

const single = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === "string" ? value : value.join(", ")]],
    ),
  );
