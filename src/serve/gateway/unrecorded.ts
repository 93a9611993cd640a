/** Calls that are passed on and counted, and not recorded, since they are no turns of a conversation: embeddings, counts of tokens. */
import type { Context } from "hono";
import { messageOf } from "../../core/errors.ts";
import { type Json, objectOf, textOf } from "../../core/json.ts";
import { type BodyLimits, chatBody, readJson } from "../../http/body.ts";
import type { Gated } from "../auth.ts";
import { type Tokens, tokensIn } from "../costs.ts";
import { orderedId } from "../orderedId.ts";
import { isRefused, type Refused, refusal } from "../refusal.ts";
import { sendResponse } from "../sendResponse.ts";
import { requireBounded } from "./answerBody.ts";
import type { Answerer } from "./answerer.ts";
import { inDeployment } from "./azure.ts";
import { foreignTo, sentFor } from "./foreign.ts";
import { passedBack, passedOn } from "./headers.ts";
import { identityOf } from "./identity.ts";
import type { Route } from "./protocol.ts";
import { unreachable } from "./relay.ts";
import type { RunningCalls } from "./runningCalls.ts";
import type { SessionAccess } from "./sessionAccess.ts";
import type { Spending } from "./spending.ts";
import type { LiveVersions } from "./versions.ts";

/** What {@link passedUnrecorded} needs of the gateway. */
export interface PassingParts {
  readonly versions: LiveVersions;
  readonly access: SessionAccess;
  readonly calls: RunningCalls;
  readonly now: () => number;
  readonly spending?: Spending;
}

/** Passes a call on, byte for byte in both directions, under the same keys and limits as a conversation. */
export const passedUnrecorded =
  ({ versions, access, calls, now, spending }: PassingParts) =>
  async (c: Context<Gated>, route: Exclude<Route, "/chat/completions">): Promise<Response> => {
    if (calls.isDraining) return refusal(closing);
    const read = await inDeployment(
      c,
      readJson(c.req.raw, route === "/embeddings" ? embeddingBody : chatBody),
    );
    if (isRefused(read)) return refusal(read);
    const { only } = c.var.caller;
    const foreign = only && foreignTo(objectOf(read.json) ?? {}, false, () => false);
    if (foreign) return refusal(foreign);
    const said = identityOf(c, only, undefined);
    if (isRefused(said)) return refusal(said);
    const resumed = only && said.session !== undefined ? access.resume(said.session) : undefined;
    const who = only ? await access.within(said, only, resumed) : said;
    if (isRefused(who)) return refusal(who);
    // counting tokens costs nothing
    const purse = route === "/embeddings" ? await spending?.purse(c.var.caller) : undefined;
    const id = orderedId(now());
    const user = who.user === undefined ? {} : { user: who.user };
    const chosen = versions.choose({ session: who.session ?? id, response: id, ...user });
    const send = chosen.answerer.others?.[route];
    if (!send) return refusal(notSpoken(route, chosen.version));
    const body = objectOf(read.json) ?? {};
    const model = textOf(body.model) ?? "";
    const unpaid = purse?.refusal(chosen.version, model, body);
    if (unpaid) return refusal(unpaid);
    const mine = { "x-whetstone-version": chosen.version };
    const gone = c.req.raw.signal;
    const leave = calls.beginUnrecorded();
    const back = purse?.hold(chosen.version, model, tokensIn(read.bytes.length), { max_tokens: 0 });
    let isPaid = false;
    const pay = (answer: readonly Uint8Array[]): void => {
      if (!isPaid) back?.(purse?.note(chosen.version, model, tokensRead(answer, read.bytes)));
      isPaid = true;
    };
    try {
      const answered = await send({
        body: counted(route, read.json, chosen.answerer) ?? sentFor(c.var.caller, read),
        ...passedOn(c),
        gone,
      });
      const chunks: Uint8Array[] = [];
      let length = 0;
      for await (const chunk of answered.body) {
        length += chunk.length;
        requireBounded(length);
        chunks.push(chunk);
      }
      if (answered.status < 400) pay(chunks);
      const head = { status: answered.status, headers: { ...passedBack(answered.headers), ...mine } };
      return await sendResponse(c, head, Buffer.concat(chunks));
    } catch (e) {
      // its upstream may have read all of it
      if (gone.aborted) pay([]);
      return gone.aborted ? new Response(null, { status: 499 }) : unreachable(messageOf(e), mine);
    } finally {
      back?.();
      leave();
    }
  };

/** Limits of a request for embeddings, whose inputs may be token ids: those of 300,000 tokens, which OpenAI takes at once. */
const embeddingBody: BodyLimits = { ...chatBody, values: 400_000 };

/** Tokens are counted for the model that would answer. Nothing: the body as it is. */
function counted(route: Route, json: Json, { model }: Pick<Answerer, "model">): string | undefined {
  const body = objectOf(json);
  const isOther = route === "/messages/count_tokens" && model !== undefined && body?.model !== model;
  return isOther && body ? JSON.stringify({ ...body, model }) : undefined;
}

/** Tokens that an answer with embeddings states to have read, at its end; else estimated from the request. */
function tokensRead(answer: readonly Uint8Array[], request: Uint8Array): Tokens {
  const end = Buffer.concat(answer).subarray(-500).toString("latin1");
  const stated = /"(?:prompt|total)_tokens"\s*:\s*(\d{1,9})/.exec(end)?.[1];
  return { input: stated === undefined ? tokensIn(request.length) : Number(stated), output: 0 };
}

export const closing: Refused = {
  status: 503,
  code: "closing",
  message: "The server is closing. Ask again in a moment.",
  retryAfter: 1,
};

/** The refusal of a call that the version which answers cannot pass on. */
export const notSpoken = (route: string, version: string): Refused => ({
  status: 404,
  code: "not_spoken",
  message: `The version ${version} does not answer /v1${route}. Ask it by /v1/chat/completions, or let an upstream answer.`,
});
