/** An OpenAI-compatible endpoint over anything that answers chat calls. It listens nowhere: see {@link listen}. */
import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import { Hono } from "hono";
import { messageOf } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { chatBody, readJson } from "../../http/body.ts";
import {
  type Completion,
  completionBody,
  type Envelope,
  refusalBody,
  replyEvents,
  replyOf,
} from "./reply.ts";
import { type ChatCall, isRefusal, type Refusal, readRequest } from "./request.ts";

/** Who answers. */
export interface Backend {
  /** What a client must show as its API key. */
  readonly key: string;
  /** Name of the model in the list; requests may name any. */
  readonly model: string;
  /** Seconds since 1970, as answers state it. */
  created(): number;
  /**
   * @param gone aborted once nobody waits for the answer any more.
   * @param wrote may be called with the text so far of a reply, if the call is streamed.
   */
  complete(call: ChatCall, gone: AbortSignal, wrote: Wrote): Promise<Answer>;
}

export type Wrote = (index: number, text: string) => void;

/** `completions`: as many as were asked for. `id`: of this answer, unlike all others of the backend. */
export type Answer = Completed | ({ readonly kind: "refused" } & Refusal);

interface Completed {
  readonly kind: "completed";
  readonly id: string;
  readonly completions: readonly Completion[];
}

/**
 * `POST …/v1/chat/completions` and `GET …/v1/models`, below `/` and below `/session/<name>/`, so that a base URL alone says
 * who is asked. A stream begins with the first text, so that a refusal has its own status; a slow client gets more at a time.
 * @param find the backend of a session; of no session for the plain path.
 */
export function endpoint(find: (session: string | undefined) => Backend | undefined): Hono {
  const asked = (c: Context): Backend | Refusal => {
    const backend = find(c.req.param("session"));
    if (!backend) return gone;
    const key = c.req.header("authorization")?.replace(/^Bearer /i, "");
    return key === backend.key ? backend : unauthorised;
  };
  const v1 = new Hono()
    .get("/models", (c) => {
      const backend = asked(c);
      if ("status" in backend) return refuse(c, backend);
      const one: Json = {
        id: backend.model,
        object: "model",
        created: backend.created(),
        owned_by: "whetstone",
      };
      return c.json({ object: "list", data: [one] });
    })
    .post("/chat/completions", async (c) => {
      const backend = asked(c);
      if ("status" in backend) return refuse(c, backend);
      const body = await readJson(c.req.raw, chatBody);
      if ("status" in body) return refuse(c, { type: "invalid_request_error", ...body });
      const call = readRequest(body.json);
      if (isRefusal(call)) return refuse(c, call);
      const left = new AbortController();
      const texts = textsSoFar(call.n);
      const gone = AbortSignal.any([c.req.raw.signal, left.signal]);
      const answering = backend.complete(call, gone, texts.wrote);
      const first = await Promise.race([answering, ...(call.stream ? [texts.next()] : [])]);
      if (first?.kind === "refused") return refuse(c, first);
      const envelope = { id: `chatcmpl-${first?.id ?? randomUUID()}`, created: backend.created() };
      if (first && !call.stream) return c.json(completionBody(call, envelope, repliesOf(call, first)));
      const events = streamed(call, envelope, texts, answering, () => left.abort());
      return c.body(ReadableStream.from(events), 200, {
        "content-type": "text/event-stream",
        "cache-control": "no-cache",
      });
    });
  return new Hono()
    .route("/v1", v1)
    .route("/session/:session/v1", v1)
    .notFound((c) =>
      refuse(c, { ...nowhere, message: `${nowhere.message} Not ${c.req.method} ${c.req.path}.` }),
    )
    .onError((e, c) =>
      refuse(c, { status: 500, type: "server_error", code: "internal_error", message: messageOf(e) }),
    );
}

const repliesOf = (call: ChatCall, { id, completions }: Completed) =>
  completions.map(
    (completion, i) => [completion, replyOf(call, completion, (k) => `call_${id}_${i}_${k}`)] as const,
  );

/** The texts of the replies to one call, while they are written. */
function textsSoFar(n: number) {
  const texts = new Array<string>(n).fill("");
  let isNew = false;
  let wake = (): void => {};
  const wrote: Wrote = (index, text) => {
    if (texts[index] === text) return;
    texts[index] = text;
    isNew = true;
    wake();
  };
  return {
    texts,
    wrote,
    /** Resolves once there is more than at the last time. */
    async next(): Promise<undefined> {
      if (!isNew) await new Promise<void>((resolve) => (wake = resolve));
      isNew = false;
    },
  };
}

/** @param leave called when the client reads no further. */
async function* streamed(
  call: ChatCall,
  envelope: Envelope,
  { texts, next }: ReturnType<typeof textsSoFar>,
  answering: Promise<Answer>,
  leave: () => void,
): AsyncGenerator<Uint8Array> {
  const events = replyEvents(call, envelope);
  try {
    for (;;) {
      const more = events.written(texts);
      if (more !== "") yield Buffer.from(more);
      const answer = await Promise.race([answering, next()]);
      if (answer?.kind === "refused") throw new Error(answer.message);
      if (answer) return yield Buffer.from(events.ended(repliesOf(call, answer)));
    }
  } finally {
    leave();
  }
}

/** Official clients ask again after many a status, unless they are told not to. */
function refuse(c: Context, refusal: Refusal): Response {
  const { retryAfter } = refusal;
  const again = retryAfter === undefined ? { "x-should-retry": "false" } : { "retry-after": `${retryAfter}` };
  return c.json(refusalBody(refusal), refusal.status, again);
}

const unauthorised: Refusal = {
  status: 401,
  type: "authentication_error",
  code: "invalid_api_key",
  message: "Wrong API key. Send the one that was handed out with the base URL, as a bearer token.",
};
const gone: Refusal = {
  status: 410,
  type: "invalid_request_error",
  code: "session_over",
  message: "This session is over. Use the base URL of one that is being played.",
};
const nowhere: Refusal = {
  status: 404,
  type: "invalid_request_error",
  code: "unknown_url",
  message: "There is POST /v1/chat/completions and GET /v1/models.",
};
