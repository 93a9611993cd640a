/** Feedback as reviewers see it: the newest first, beside the reply that it is about, and what was made of it. */
import { Hono } from "hono";
import { lastReviews, reviewed } from "../../core/reviews.ts";
import type { ReceivedSignal, ServedResponse } from "../../core/served.ts";
import type { Production } from "../../store/index.ts";
import type { Gate, Gated } from "../auth.ts";
import type { InboxItem, InboxPage } from "./types.ts";

type Reading = Pick<Production, "response" | "signals">;

/** Signals that are looked through for one page. */
const most = 300;
const hour = 3_600_000;
const spans = [hour, 24 * hour, 30 * 24 * hour, Number.POSITIVE_INFINITY];

/** `GET /api/inbox`. */
export function inboxRoutes(production: Reading, gate: Gate): Hono<Gated> {
  return new Hono<Gated>().get("/api/inbox", gate.allow("read"), async (c) => {
    const { items, reviews } = await newest(production, gate.now());
    const shown = await Promise.all(
      items.map((signal) => itemOf(production, signal, reviews.get(signal.id))),
    );
    const waiting = shown.filter((item) => item.wanting && !item.reviewed).length;
    return c.json({ items: shown, waiting } satisfies InboxPage);
  });
}

/** The last to arrive, the latest first, and the last review of each. */
async function newest(
  production: Reading,
  now: number,
): Promise<{
  readonly items: readonly ReceivedSignal[];
  readonly reviews: ReadonlyMap<string, ReceivedSignal>;
}> {
  let found: ReceivedSignal[] = [];
  // signals are read oldest first: the shortest span that holds enough of them is read whole
  for (const span of spans) {
    found = [];
    const from = Number.isFinite(span) ? { from: now - span } : {};
    for await (const signal of production.signals(from)) {
      found.push(signal);
      if (found.length > 4 * most) found.splice(0, found.length - 2 * most);
    }
    if (found.length >= most) break;
  }
  const items = found.filter((signal) => reviewed(signal) === undefined);
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
  return {
    signal,
    wanting: isWanting(signal),
    ...(response && { reply: replyOf(response, target?.choice ?? 0) }),
    ...(review && { reviewed: { verdict: review.text ?? "seen", by: review.source, at: review.received } }),
  };
}

function replyOf(response: ServedResponse, choice: number): NonNullable<InboxItem["reply"]> {
  const { id, session, version, prompt, choices } = response;
  const asked = prompt.findLast(({ role }) => role === "user")?.content ?? "";
  return { response: id, session, version, asked, said: choices[choice]?.message.content ?? "" };
}

/** Values below the middle of [0, 1] are complaints; so are words without a value, until somebody has read them. */
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
