/** An OpenAI-compatible endpoint over anything that answers chat calls. It listens nowhere: see {@link listen}. */

import type { Context } from "hono";
import { Hono } from "hono";
import { messageOf } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { chatBody, readJson } from "../../http/body.ts";
import { type Completion, completionBody, eventStream, refusalBody, replyOf } from "./reply.ts";
import { type ChatCall, isRefusal, type Refusal, readRequest } from "./request.ts";

/** Who answers. */
export interface Backend {
  /** What a client must show as its API key. */
  readonly key: string;
  /** Name of the model in the list; requests may name any. */
  readonly model: string;
  /** Seconds since 1970, as answers state it. */
  created(): number;
  /** @param gone aborted once nobody waits for the answer any more. */
  complete(call: ChatCall, gone: AbortSignal): Promise<Answer>;
}

/** `completions`: as many as were asked for. `id`: of this answer, unlike all others of the backend. */
export type Answer =
  | { readonly kind: "completed"; readonly id: string; readonly completions: readonly Completion[] }
  | ({ readonly kind: "refused" } & Refusal);

/**
 * `POST …/v1/chat/completions` and `GET …/v1/models`, below `/` and below `/session/<name>/`, so that a base URL alone says
 * who is asked. A streamed answer is sampled whole before its first event.
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
      const answer = await backend.complete(call, c.req.raw.signal);
      if (answer.kind === "refused") return refuse(c, answer);
      const made = answer.completions.map(
        (completion, i) =>
          [completion, replyOf(call, completion, (k) => `call_${answer.id}_${i}_${k}`)] as const,
      );
      const envelope = { id: `chatcmpl-${answer.id}`, created: backend.created() };
      if (!call.stream) return c.json(completionBody(call, envelope, made));
      return c.body(eventStream(call, envelope, made), 200, {
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

/** Official clients ask again after many a status, unless they are told not to. */
function refuse(c: Context, refusal: Refusal): Response {
  return c.json(refusalBody(refusal), refusal.status, { "x-should-retry": "false" });
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
