/** A spending limit for providers, shared by several models. */
import type { Spend } from "../../core/chat.ts";
import { WhetstoneError } from "../../core/errors.ts";
import { type Ledger, noLedger } from "./ledger.ts";

/** Dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/** Spending limits; reaching any of them stops the spending. Default: none. */
export interface Limits {
  readonly usd?: number;
  /** Input and output together. */
  readonly tokens?: number;
  readonly calls?: number;
}

export interface Usage {
  readonly input: number;
  readonly output: number;
}

/** Money, tokens and calls that several models share. */
export interface Budget {
  readonly limits: Limits;
  spent(): Spend;
  /** Counts an answer from the cache. */
  cached(): void;
  /**
   * Reserves the maximum cost of a call, so that a limit holds even if a provider fails halfway. If only reservations of
   * running calls exceed a limit, it waits for them, since calls usually cost less than reserved.
   * @throws WhetstoneError `budget.spent` before anything is sent, if the call does not fit the limits.
   */
  reserve(most: Usage, price: Price): Promise<Reservation>;
}

/** A reserved amount for one call. */
export interface Reservation {
  /** The call was answered. @param used actual usage. Default: the whole reservation, if the usage is unknown. */
  paid(used?: Usage): void;
  /** The call is over; the reservation is released if it was never answered. */
  end(): void;
}

/** @param ledger shared by all processes that the limits apply to. Default: this process only. */
export function budget(limits: Limits = {}, { before, note }: Ledger = noLedger): Budget {
  let { calls, inputTokens, outputTokens, usd } = before;
  let cachedCalls = 0;
  const bounds = { ...unlimited, ...limits };
  const held = { calls: 0, usd: 0, tokens: 0 };
  let settled = Promise.withResolvers<void>();
  const cost = (u: Usage, price: Price): number => (u.input * price.input + u.output * price.output) / 1e6;
  return {
    limits,
    spent: () => ({ calls, cachedCalls, inputTokens, outputTokens, usd }),
    cached: () => void cachedCalls++,
    async reserve(most, price) {
      const [tokens, dollars] = [most.input + most.output, cost(most, price)];
      const fits = (): boolean =>
        calls + held.calls < bounds.calls &&
        inputTokens + outputTokens + held.tokens + tokens <= bounds.tokens &&
        usd + held.usd + dollars <= bounds.usd;
      while (held.calls > 0 && !fits()) await settled.promise;
      if (!fits()) {
        const used = inputTokens + outputTokens;
        if (calls >= bounds.calls) throw spent(`${calls} calls of ${bounds.calls}`);
        throw spent(
          used + tokens > bounds.tokens
            ? `${used} tokens of ${bounds.tokens}`
            : `$${usd.toFixed(4)} of $${bounds.usd}`,
        );
      }
      // written before the call is sent: if the process is killed now, the call counts as spent
      note({ calls: 1, inputTokens: most.input, outputTokens: most.output, usd: dollars });
      held.calls++;
      held.tokens += tokens;
      held.usd += dollars;
      let [answered, used] = [0, nothing];
      return {
        paid(said = most) {
          [answered, used] = [1, said];
        },
        end() {
          held.calls--;
          held.tokens -= tokens;
          held.usd -= dollars;
          calls += answered;
          inputTokens += used.input;
          outputTokens += used.output;
          usd += cost(used, price);
          settled.resolve();
          settled = Promise.withResolvers();
          note({
            calls: answered - 1,
            inputTokens: used.input - most.input,
            outputTokens: used.output - most.output,
            usd: cost(used, price) - dollars,
          });
        },
      };
    },
  };
}

const nothing: Usage = { input: 0, output: 0 };

const unlimited: Required<Limits> = {
  usd: Number.POSITIVE_INFINITY,
  tokens: Number.POSITIVE_INFINITY,
  calls: Number.POSITIVE_INFINITY,
};

const spent = (used: string): WhetstoneError =>
  new WhetstoneError("budget.spent", {
    where: "the spending limit",
    got: `${used} used, and a next call that may exceed the rest`,
    expected: "room for the next call",
    fix: "Raise the limit and resume: replies that were paid for are in the cache.",
  });
