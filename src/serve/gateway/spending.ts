/** Budgets of keys: what each has spent in its period, and whether a call may still be made. */
import { type Budget, periodEnd, periodStart } from "../../core/budget.ts";
import { countOf, type Json, type JsonObject } from "../../core/json.ts";
import type { ServedResponse } from "../../core/served.ts";
import type { Id } from "../../core/types.ts";
import type { TrafficStore } from "../../store/trafficStore.ts";
import {
  dollars,
  type PriceTable,
  priceTable,
  storedPrices,
  type Tokens,
  tokensInMessages,
} from "../costs.ts";
import type { Refused } from "../refusal.ts";
import { isAbandoned } from "./abandoned.ts";

/** Name of the tag with the id of the key that a call was made with. */
export const keyTag = "whetstone.key";

/** A key's budget as it stands. */
export interface Purse {
  /** Why a call may not be made, if so. @param model that the client names. @param body of the request. */
  refusal(version: Id, model: string, body?: JsonObject): Refused | undefined;
  /**
   * Holds back what a call may cost while it runs. @param input tokens of its prompt. @param body of the request, which may limit the output.
   * @returns gives it back, once: the call is counted by then. Its dollars show what the next ones may cost beyond their requests.
   */
  hold(version: Id, model: string, input: number, body: JsonObject): (usd?: number) => void;
  /** Counts a call that is not recorded. @returns its dollars. */
  note(version: Id, model: string, tokens: Tokens): number;
  /** Dollars that a recorded call counts for. */
  costOf(response: ServedResponse): number;
}

/** What keys with a budget have spent. */
export interface Spending {
  /** Reads what the key has spent, prices and versions; undefined for a key without a budget. */
  purse(key: { readonly key?: Id; readonly budget?: Budget }): Promise<Purse | undefined>;
  /** Counts a call that is being recorded. */
  note(response: ServedResponse): void;
}

interface Spent {
  readonly from: number;
  usd: number;
  /** Calls that run now. */
  running: number;
  /** Dollars that running calls may cost, by their requests. */
  held: number;
  /** Most dollars that a call has cost beyond its request: the next ones may as well, since not every backend keeps to limits. */
  beyond: number;
  /** Ids of the calls that were counted while the store is read. */
  readonly counted: Set<Id>;
  reading: boolean;
}

/** Milliseconds for which prices and versions are kept. */
const fresh = 2000;

/**
 * Sums are kept in memory; the first call of a key in a period reads what is stored of it. Several servers on one store count
 * each other's calls only then. Calls that run at the same time may exceed a budget by what they cost beyond what is held back; there are
 * at most {@link mostRunning} of them.
 */
export function spending(
  production: Pick<TrafficStore, "responses" | "prices" | "versions">,
  now: () => number,
): Spending {
  const spent = new Map<Id, { readonly sum: Spent; readonly ready: Promise<void> }>();
  let table: { readonly at: number; readonly made: Promise<PriceTable> } | undefined;
  let latest: PriceTable = priceTable([], []);

  async function current(): Promise<PriceTable> {
    if (!table || now() - table.at >= fresh || now() < table.at) {
      const made = storedPrices(production);
      table = { at: now(), made };
      made.catch(() => {
        table = undefined;
      });
    }
    latest = await table.made;
    return latest;
  }

  async function read(key: Id, sum: Spent, prices: PriceTable): Promise<void> {
    try {
      for await (const response of production.responses({ from: sum.from })) {
        if (response.tags[keyTag] === key && !sum.counted.has(response.id))
          sum.usd += countedFor(prices, response);
      }
    } finally {
      sum.reading = false;
      sum.counted.clear();
    }
  }

  async function sumOf(key: Id, from: number, prices: PriceTable): Promise<Spent> {
    let known = spent.get(key);
    if (known?.sum.from !== from) {
      const sum: Spent = { from, usd: 0, running: 0, held: 0, beyond: 0, counted: new Set(), reading: true };
      known = { sum, ready: read(key, sum, prices) };
      spent.set(key, known);
      // read again by the next call
      known.ready.catch(() => spent.delete(key));
    }
    await known.ready;
    return known.sum;
  }

  return {
    async purse({ key, budget }) {
      if (key === undefined || budget === undefined) return undefined;
      const prices = await current();
      const sum = await sumOf(key, periodStart(budget, now()), prices);
      return {
        refusal(version, model, body = {}) {
          const unseen = paidElsewhere.find((name) => !isNothing(body[name]));
          if (unseen) return unseenCost(unseen);
          const unpriced = prices.of(version, model).find(({ price }) => price === undefined);
          if (unpriced) return noPrice(unpriced.model);
          if (sum.usd >= budget.usd) return isSpent(budget, now());
          if (sum.running >= mostRunning) return manyRunning;
          const held = sum.held + sum.running * sum.beyond;
          return held > 0 && sum.usd + held >= budget.usd ? isHeld : undefined;
        },
        hold(version, model, input, body) {
          const usd = heldFor(prices, version, model, input, body);
          sum.held += usd;
          sum.running++;
          let isHolding = true;
          return (cost = 0) => {
            if (!isHolding) return;
            isHolding = false;
            sum.running--;
            // sums of fractions do not come back to nothing
            sum.held = sum.running === 0 ? 0 : sum.held - usd;
            sum.beyond = Math.max(sum.beyond, cost - usd);
          };
        },
        note(version, model, tokens) {
          const [priced] = prices.of(version, model);
          const usd = priced?.price === undefined ? 0 : dollars(priced.price, tokens);
          sum.usd += usd;
          return usd;
        },
        costOf: (response) => countedFor(prices, response),
      };
    },
    note(response) {
      const known = spent.get(response.tags[keyTag] ?? "");
      if (!known || response.at < known.sum.from) return;
      if (known.sum.reading) known.sum.counted.add(response.id);
      known.sum.usd += countedFor(latest, response);
    },
  };
}

/** Dollars that a call may cost by its request, at the price of the dearest model that may answer. */
function heldFor(prices: PriceTable, version: Id, model: string, input: number, body: JsonObject): number {
  const tokens = { input, output: outputOf(body) };
  return Math.max(0, ...prices.of(version, model).map(({ price }) => (price ? dollars(price, tokens) : 0)));
}

/** A client that leaves early would otherwise pay almost nothing for what its upstream goes on writing. */
function countedFor(prices: PriceTable, response: ServedResponse): number {
  const counted = prices.costOf(response) ?? 0;
  if (!isAbandoned(response)) return counted;
  const { version, model, prompt, settings } = response;
  return Math.max(counted, heldFor(prices, version, model, tokensInMessages(prompt), settings));
}

/**
 * Fields of a request with which its cost is not seen: the answer comes later, or other models than the one with the price may give it (OpenRouter,
 * LiteLLM).
 */
const paidElsewhere = ["background", "models", "fallbacks"] as const;
const isNothing = (value: Json | undefined): boolean =>
  (value ?? false) === false || (Array.isArray(value) && value.length === 0);

/** Most calls of a key with a budget that the gateway has open at the same time: nobody knows what the first of them cost before they end. */
const mostRunning = 32;

/** Tokens that an answer may have, as the request limits them, by the largest that it states: many clients state limits that no answer comes near. */
function outputOf(body: JsonObject): number {
  const limits = [body.max_tokens, body.max_completion_tokens, body.max_output_tokens];
  const stated = limits.flatMap((limit) => countOf(limit) ?? []);
  return (
    Math.min(stated.length > 0 ? Math.max(...stated) : usualOutput, mostOutput) *
    Math.min(countOf(body.n) ?? 1, mostReplies)
  );
}
const [usualOutput, mostOutput, mostReplies] = [1000, 4000, 128];

const isHeld: Refused = {
  status: 429,
  code: "budget_spent",
  message:
    "The rest of this key's budget is held back for calls that are running. Ask again when they have ended.",
  retryAfter: 1,
};
const manyRunning: Refused = {
  ...isHeld,
  code: "too_many_requests",
  message: `This key has a budget, and ${mostRunning} of its calls are running, as many as may at once. Ask again when one has ended.`,
};
const unseenCost = (field: string): Refused => ({
  status: 403,
  code: "no_price",
  message: `This key has a budget, and what a call with "${field}" costs is not seen. Leave it out, or use a key without a budget.`,
});
const noPrice = (model: string): Refused => ({
  status: 403,
  code: "no_price",
  message: `This key has a budget, and the model "${model}" has no price. Set it, in dollars per million tokens read and written, with: whetstone prices set '${model}' 0.25,2`,
});

/** Without a time to wait: clients would otherwise ask again, and again. */
function isSpent(budget: Budget, now: number): Refused {
  const end = periodEnd(budget, now);
  const until =
    end === undefined ? "" : ` It begins anew at ${new Date(end).toISOString().slice(0, 16)} UTC.`;
  return {
    status: 429,
    code: "budget_spent",
    message: `The budget of this key is spent: $${budget.usd} ${budget.per === "ever" ? "in all" : `a ${budget.per}`}.${until}`,
  };
}
