/** HTTP routes that read served responses, sessions and feedback. */
import { type Context, Hono } from "hono";
import type { ReceivedSignal, ServedChoice, ServedResponse, TracedCall } from "../core/served.ts";
import type { Id, Message } from "../core/types.ts";
import { weightOfMessage } from "../store/served.ts";
import type { SessionSummary, SignalFilter, TrafficStore } from "../store/trafficStore.ts";
import type { Gate, Gated } from "./auth.ts";
import { type PriceTable, storedPrices } from "./costs.ts";
import { isWithinResponse } from "./keyScope.ts";
import { takes } from "./query.ts";
import { isRefused, type Refused, refusal } from "./refusal.ts";

/** A reply with the number of recorded tokens in place of the tokens. */
export type ChoiceBody = Omit<ServedChoice, "tokens"> & { readonly sampledTokens?: number };
/** Response of `GET /v1/responses/:id`: a served response without token arrays. */
export type ResponseBody = Omit<ServedResponse, "choices"> & { readonly choices: readonly ChoiceBody[] };

/** One response within its trajectory. */
export type TurnBody = Omit<ResponseBody, "prompt" | "session" | "trajectory"> & {
  /** The messages of the prompt that were not in the prompt of the previous turn: the last thousand of them. */
  readonly messages: readonly Message[];
  /** How many came before those. Absent where there are none. */
  readonly skipped?: number;
  /** Dollars, by the table of prices as it is now. Absent where the model has no price. */
  readonly usd?: number;
};

/** Response of `GET /v1/sessions/:id`: a session's trajectories and its feedback. */
export interface SessionBody {
  readonly session: string;
  readonly user?: string;
  readonly trajectories: readonly { readonly id: string; readonly turns: readonly TurnBody[] }[];
  /** How often a prompt did not continue the previous one. */
  readonly cuts: number;
  /** About the session as a whole or about these turns and trajectories. */
  readonly signals: readonly ReceivedSignal[];
  /** Dollars of the replies in this body. Absent where the model of one has no price. */
  readonly usd?: number;
  /** Calls of tools and retrievals that a tracer reported, and calls of other paths that were passed on, by time. */
  readonly traced: readonly TracedCall[];
  /** Whether the session has more responses or signals than this body. */
  readonly more: boolean;
}
/** A session in a list. */
export interface SessionRow extends SessionSummary {
  /** If asked for: the beginning of the first message of a user. */
  readonly preview?: string;
  /** If asked for, in sessions of at most 20 responses: tokens of all of them, as the upstreams reported them. */
  readonly usage?: { readonly input: number; readonly output: number };
  /** Likewise: dollars, by the table of prices as it is now. Absent where the model of one response has no price. */
  readonly usd?: number;
}
/** Response of `GET /v1/sessions`. */
export interface SessionsBody {
  readonly sessions: readonly SessionRow[];
}

/** Most responses or signals in one body, and most characters of their texts: each may hold megabytes. */
const mostRead = 1000;
const mostSaid = 4e6;

type Reading = Pick<
  TrafficStore,
  "response" | "responses" | "heads" | "signals" | "sessions" | "traced" | "prices" | "versions"
>;

/** `GET /v1/feedback`, `/v1/responses/:id`, `/v1/sessions` and `/v1/sessions/:id`. */
export function records(production: Reading, gate: Gate): Hono<Gated> {
  return new Hono<Gated>()
    .get(
      "/v1/feedback",
      gate.allow("read", "narrowed too"),
      takes("response", "session", "user", "channel", "from", "until", "limit"),
      async (c) => {
        const filter = filterOf(c);
        const limit = countOf(c, "limit", 100);
        if (isRefused(filter)) return refusal(filter);
        if (isRefused(limit)) return refusal(limit);
        const { only } = c.var.caller;
        if (only && filter.session === undefined && filter.response === undefined) return refusal(narrow);
        if (only && !(await isVisible(production, filter, c))) return refusal(unknown);
        const { items, more } = await firstOf(production.signals(filter), limit, sizeOfSignal);
        return c.json({ signals: items, more });
      },
    )
    .get("/v1/responses/:id", gate.allow("read", "narrowed too"), takes(), async (c) => {
      const found = await production.response(c.req.param("id"));
      if (!found || !maySee(c, found)) return refusal(unknown);
      const { items, more } = await firstOf(
        production.signals({ response: found.id }),
        mostRead,
        sizeOfSignal,
      );
      return c.json({ response: responseBody(found), signals: items, more });
    })
    .get(
      "/v1/sessions",
      gate.allow("read"),
      takes("limit", "offset", "text", "failed", "preview"),
      async (c) => {
        const limit = countOf(c, "limit", 100);
        const offset = countOf(c, "offset", 0, Number.MAX_SAFE_INTEGER);
        if (isRefused(limit)) return refusal(limit);
        if (isRefused(offset)) return refusal(offset);
        const { text = "", failed, preview } = c.req.query();
        const sessions = await production.sessions({ limit, offset, text, failed: failed === "true" });
        if (preview !== "true") return c.json({ sessions } satisfies SessionsBody);
        const prices = await storedPrices(production);
        const rows: SessionRow[] = [];
        for (const one of sessions) rows.push({ ...one, ...(await lookInto(production, one, prices)) });
        return c.json({ sessions: rows } satisfies SessionsBody);
      },
    )
    .get("/v1/sessions/:id", gate.allow("read", "narrowed too"), takes(), async (c) => {
      const session = c.req.param("id");
      const responses = await firstOf(production.responses({ session }), mostRead, newlySaid());
      const [first] = responses.items;
      // without a response there is nothing that a narrowed key could be for
      if (first ? !maySeeSession(c, first) : c.var.caller.only) return refusal(unknown);
      const parts = {
        responses: responses.items.map(({ id }) => id),
        trajectories: [...new Set(responses.items.map(({ trajectory }) => trajectory))],
      };
      const signals = await firstOf(production.signals({ session, parts }), mostRead, sizeOfSignal);
      const traced = await firstOf(production.traced({ session }), mostRead, sizeOfTraced);
      if (!first && traced.items.length === 0) return refusal(unknown);
      const more = responses.more || signals.more || traced.more;
      const prices = await storedPrices(production);
      return c.json(sessionBody(session, responses.items, signals.items, traced.items, more, prices));
    });
}

/** The sum, if every part is known. */
const summed = (parts: readonly (number | undefined)[]): number | undefined =>
  parts.reduce<number | undefined>(
    (sum, one) => (sum === undefined || one === undefined ? undefined : sum + one),
    0,
  );

/** Most responses of a session that a list looks into. */
const mostLookedInto = 20;

/** What a session is about, and what it took: of a long one only the first response is looked at. */
async function lookInto(
  production: Pick<Reading, "heads">,
  { id, responses }: SessionSummary,
  prices: PriceTable,
): Promise<Pick<SessionRow, "preview" | "usage" | "usd">> {
  const isLong = responses > mostLookedInto;
  const heads = await production.heads(id, isLong ? 1 : mostLookedInto);
  const preview = heads.find(({ opening }) => opening !== undefined)?.opening;
  const shown = preview === undefined ? {} : { preview };
  if (isLong) return shown;
  const counted = heads.flatMap(({ usage }) => usage ?? []);
  const usage = {
    input: counted.reduce((sum, { input }) => sum + input, 0),
    output: counted.reduce((sum, { output }) => sum + output, 0),
  };
  const usd = summed(heads.map((head) => prices.costOf(head)));
  return { ...shown, ...(counted.length > 0 && { usage }), ...(usd !== undefined && { usd }) };
}

const maySee = (c: Context<Gated>, found: ServedResponse): boolean =>
  c.var.caller.only === undefined || isWithinResponse(found, c.var.caller.only);
/** A key for one response may not read the whole session. */
const maySeeSession = (c: Context<Gated>, first: ServedResponse): boolean =>
  c.var.caller.only?.response === undefined && maySee(c, first);

/** Whether a narrowed key may read what the filter selects. */
async function isVisible(production: Reading, filter: SignalFilter, c: Context<Gated>): Promise<boolean> {
  if (filter.response !== undefined) {
    const found = await production.response(filter.response);
    return found !== undefined && maySee(c, found);
  }
  const { items } = await firstOf(production.responses({ session: filter.session! }), 1, () => 0);
  return items[0] !== undefined && maySeeSession(c, items[0]);
}

/** The first items, at least one, and whether there are more. @param size in characters; the total is at most {@link mostSaid}. */
async function firstOf<T>(
  all: AsyncIterable<T>,
  most: number,
  size: (item: T) => number,
): Promise<{ readonly items: readonly T[]; readonly more: boolean }> {
  const items: T[] = [];
  let said = 0;
  for await (const item of all) {
    said += size(item);
    if (items.length === most || (said > mostSaid && items.length > 0)) return { items, more: true };
    items.push(item);
  }
  return { items, more: false };
}

const sizeOfSignal = ({ text = "", tags, about }: ReceivedSignal): number =>
  text.length + JSON.stringify(tags).length + JSON.stringify(about).length;

const sizeOfTraced = ({ input = "", output = "", tags }: TracedCall): number =>
  input.length + output.length + JSON.stringify(tags).length;

/** Counts the characters of each response that its trajectory did not have before. Its prompt may hold megabytes. */
function newlySaid(): (response: ServedResponse) => number {
  const heard = new Map<Id, number>();
  return ({ trajectory, prompt, choices, settings, tags }) => {
    let n = JSON.stringify(settings).length + JSON.stringify(tags).length;
    for (let i = heard.get(trajectory) ?? 0; i < prompt.length; i++) n += weightOfMessage(prompt[i]!);
    for (const { message } of choices) n += weightOfMessage(message);
    heard.set(trajectory, prompt.length);
    return n;
  };
}

function responseBody({ choices, ...rest }: ServedResponse): ResponseBody {
  return {
    ...rest,
    choices: choices.map(({ tokens, ...choice }) => ({
      ...choice,
      ...(tokens ? { sampledTokens: tokens.action.length } : {}),
    })),
  };
}

/** @param responses of the session, oldest first. */
function sessionBody(
  session: string,
  responses: readonly ServedResponse[],
  signals: readonly ReceivedSignal[],
  traced: readonly TracedCall[],
  more: boolean,
  prices: PriceTable,
): SessionBody {
  const byTrajectory = Map.groupBy(responses, (r) => r.trajectory);
  const trajectories = [...byTrajectory].map(([id, found]) => {
    const turns = found.toSorted((a, b) => a.turn - b.turn);
    return { id, turns: turns.map((turn, i) => turnBody(turn, turns[i - 1], prices)) };
  });
  const usd = summed(trajectories.flatMap(({ turns }) => turns.map((turn) => turn.usd)));
  const user = [...responses, ...traced].find((one) => one.user !== undefined)?.user;
  return {
    session,
    ...(user === undefined ? {} : { user }),
    trajectories,
    cuts: Math.max(0, trajectories.length - 1),
    signals,
    ...(usd === undefined ? {} : { usd }),
    traced,
    more,
  };
}

function turnBody(
  response: ServedResponse,
  before: ServedResponse | undefined,
  prices: PriceTable,
): TurnBody {
  const { prompt, session: _session, trajectory: _trajectory, ...rest } = responseBody(response);
  const usd = prices.costOf(response);
  const fresh = prompt.slice(before?.prompt.length ?? 0);
  const skipped = Math.max(0, fresh.length - mostRead);
  return {
    ...rest,
    messages: fresh.slice(skipped),
    ...(skipped > 0 && { skipped }),
    ...(usd === undefined ? {} : { usd }),
  };
}

function filterOf(c: Context<Gated>): SignalFilter | Refused {
  const { response, session, user, channel } = c.req.query();
  const from = countOf(c, "from", 0, Number.MAX_SAFE_INTEGER);
  const until = countOf(c, "until", Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  if (isRefused(from)) return from;
  if (isRefused(until)) return until;
  return {
    ...(response === undefined ? {} : { response }),
    ...(session === undefined ? {} : { session }),
    ...(user === undefined ? {} : { user }),
    ...(channel === undefined ? {} : { channel }),
    ...(c.req.query("from") === undefined ? {} : { from }),
    ...(c.req.query("until") === undefined ? {} : { until }),
  };
}

function countOf(c: Context<Gated>, name: string, fallback: number, most = mostRead): number | Refused {
  const text = c.req.query(name);
  if (text === undefined) return fallback;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value <= most) return value;
  const message = `expected a whole number from 0 to ${most}`;
  return {
    status: 400,
    code: "invalid_query",
    message: `${name}: ${message}.`,
    fields: [{ path: name, message }],
  };
}

/** The same refusal for unknown and for forbidden ids, so that a client cannot probe for ids. */
const unknown: Refused = {
  status: 404,
  code: "not_found",
  message: "The id is unknown, or your key may not read it. Check the id.",
};
const narrow: Refused = {
  status: 403,
  code: "narrowed_key",
  message: "This key is for one session, response or user. Name it: ?session=… or ?response=…",
};
