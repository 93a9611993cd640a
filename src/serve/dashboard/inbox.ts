/** Feedback for reviewers: newest first, with the reply that it is about and the training data made from it. */
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { lastReviews, reviewedSignal } from "../../common/text/reviews.ts";
import type { ReceivedSignal, ServedResponse } from "../../core/served.ts";
import { isOfJudge } from "../../core/signal.ts";
import type { TrainingExample } from "../../core/trainingExamples.ts";
import type { Trajectory } from "../../core/types.ts";
import { type Dropped, examplesOfSignal } from "../../exchange/derived.ts";
import type { TrafficStore } from "../../store/trafficStore.ts";
import type { Gate, Gated } from "../auth.ts";
import { takes } from "../query.ts";
import type { Becomes, InboxItem, InboxPage } from "./types.ts";

type Reading = Pick<TrafficStore, "response" | "responses" | "signals" | "completeSessions">;

/** Most signals read for one page. */
const most = 300;
const minute = 60_000;
const hour = 60 * minute;
/** Time spans to try, shortest first, so that little more is read than is shown, at any rate of arrival. */
const spans = [minute / 6, minute, 10 * minute, hour, 24 * hour, 30 * 24 * hour, Number.POSITIVE_INFINITY];

/** Milliseconds between polls of the store, and the longest life of one connection: a new connection checks the key again. */
const [lookEvery, answered] = [1000, 10 * 60_000];

/** `GET /api/inbox`, and `/api/inbox/live`, which streams the same page now and whenever feedback arrives. */
export function inboxRoutes(production: Reading, gate: Gate): Hono<Gated> {
  return new Hono<Gated>()
    .get("/api/inbox", gate.allow("read"), takes(), async (c) =>
      c.json(await pageOf(production, await newest(production, gate.now()))),
    )
    .get("/api/inbox/live", gate.allow("read"), (c) =>
      streamSSE(c, async (stream) => {
        let told: string | undefined;
        for (const end = gate.now() + answered; !stream.aborted && gate.now() < end; ) {
          const found = await newest(production, gate.now());
          const now = [...found.items, ...found.reviews.values()].map(({ id }) => id).join(" ");
          if (now !== told) {
            await stream.writeSSE({ event: "inbox", data: JSON.stringify(await pageOf(production, found)) });
          }
          told = now;
          await stream.sleep(lookEvery);
        }
      }),
    );
}

interface Newest {
  /** Newest first. */
  readonly items: readonly ReceivedSignal[];
  readonly reviews: ReadonlyMap<string, ReceivedSignal>;
}

async function pageOf(production: Reading, { items, reviews }: Newest): Promise<InboxPage> {
  const shown: InboxItem[] = [];
  // sequentially, since each may be about a conversation of megabytes
  for (const signal of items) shown.push(await itemOf(production, signal, reviews.get(signal.id)));
  const waiting = shown.filter((item) => item.wanting && !item.reviewed).length;
  const isFirst = ({ disagrees, reviewed }: InboxItem): boolean => disagrees !== undefined && !reviewed;
  return { items: [...shown.filter(isFirst), ...shown.filter((item) => !isFirst(item))], waiting };
}

/** The last signals to arrive, newest first, and the last review of each. */
async function newest(production: Reading, now: number): Promise<Newest> {
  let found: ReceivedSignal[] = [];
  // the store reads signals oldest first: read the shortest span with enough of them as a whole
  for (const span of spans) {
    found = [];
    const from = Number.isFinite(span) ? { from: now - span } : {};
    for await (const signal of production.signals(from)) {
      found.push(signal);
      if (found.length > 4 * most) found.splice(0, found.length - 2 * most);
    }
    if (found.length >= most) break;
  }
  const items = found.filter((signal) => reviewedSignal(signal) === undefined);
  return { items: items.slice(-most).reverse(), reviews: lastReviews(found) };
}

async function itemOf(
  production: Reading,
  signal: ReceivedSignal,
  review: ReceivedSignal | undefined,
): Promise<InboxItem> {
  const [target, ...others] = signal.about;
  const response =
    target?.response !== undefined && others.length === 0
      ? await production.response(target.response)
      : undefined;
  const teaches = signal.kind === "correction" || signal.kind === "demonstration";
  const disagrees = response && (await disagreement(production, signal, response.id));
  return {
    signal: signal.text === undefined ? signal : { ...signal, text: cut(signal.text) },
    wanting: disagrees !== undefined || isWanting(signal),
    ...(disagrees && { disagrees }),
    ...(teaches && { becomes: becomesOf(await examplesOfSignal(production, signal)) }),
    ...(response && { reply: replyOf(response, target?.choice ?? 0) }),
    ...(review && { reviewed: { verdict: review.text ?? "seen", by: review.source, at: review.received } }),
  };
}

/** @param made what learning makes of one correction or demonstration. */
function becomesOf(made: readonly (TrainingExample | Dropped)[]): Becomes {
  const demonstration = made.find((example) => example.kind === "demonstration");
  const dropped = made.find((example) => example.kind === "dropped");
  if (!demonstration) return { nothing: dropped?.why ?? "noReply" };
  const pair = made.find((example) => example.kind === "pair");
  return {
    shown: textOf(demonstration.shown),
    ...(pair && { chosen: textOf(pair.chosen), rejected: textOf(pair.rejected) }),
  };
}

const textOf = ({ turns }: Trajectory): string => cut(turns.map(({ action }) => action.content).join("\n"));

/** Most characters of one text, since every change sends a list of hundreds. */
const mostSaid = 5000;
const cut = (text: string): string =>
  text.length <= mostSaid
    ? text
    : `${text.slice(0, mostSaid).toWellFormed()} … ${text.length - mostSaid} more characters: see the session`;

function replyOf(response: ServedResponse, choice: number): NonNullable<InboxItem["reply"]> {
  const { id, session, version, prompt, choices } = response;
  const asked = prompt.findLast(({ role }) => role === "user")?.content ?? "";
  const said = choices[choice]?.message.content ?? "";
  return { response: id, session, version, asked: cut(asked), said: cut(said) };
}

/** The last feedback of a person on a reply that lies on the other side of 0.5 than a judge's score of it. */
async function disagreement(
  production: Pick<Reading, "signals">,
  judgement: ReceivedSignal,
  response: string,
): Promise<InboxItem["disagrees"]> {
  const { value: judged } = judgement;
  if (!isOfJudge(judgement) || judged === undefined) return undefined;
  let found: InboxItem["disagrees"];
  for await (const signal of production.signals({ response })) {
    const { value, source } = signal;
    if (value === undefined || isOfJudge(signal) || reviewedSignal(signal) !== undefined) continue;
    found = value < 0.5 !== judged < 0.5 ? { with: source, value } : undefined;
  }
  return found;
}

/** Values below 0.5 count as complaints, and so do critiques without a value. */
function isWanting({ kind, value }: ReceivedSignal): boolean {
  switch (kind) {
    case "correction":
    case "demonstration":
      return true;
    case "critique":
      return value === undefined || value < 0.5;
    case "reaction":
    case "score":
    case "reward":
      return value !== undefined && value < 0.5;
    case "preference":
      return false;
  }
}
