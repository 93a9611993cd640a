/** What may be spent on providers, over all models that share it. */
import type { Spend } from "../../core/chat.ts";
import { WhetstoneError } from "../../core/errors.ts";
import { type Ledger, noLedger } from "./ledger.ts";

/** Dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/** Limits, each of which ends the spending. Default: none. */
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

/** Money, tokens and calls that several models draw on. */
export interface Budget {
  readonly limits: Limits;
  spent(): Spend;
  /** Notes an answer from a cache. */
  cached(): void;
  /**
   * Sets aside what a call may cost at the most; hand in what it really used, or nothing where that is unknown: then
   * what was set aside counts as spent, so that a limit holds also where a provider fails halfway.
   * @throws WhetstoneError `budget.spent` where the limits do not bear the call, before anything is sent.
   */
  reserve(most: Usage, price: Price): (used?: Usage) => void;
}

/** @param ledger of the processes that the limits hold for together. Default: this one alone. */
export function budget(limits: Limits = {}, { before, note }: Ledger = noLedger): Budget {
  let { calls, inputTokens, outputTokens, usd } = before;
  let cachedCalls = 0;
  const held = { usd: 0, tokens: 0 };
  const cost = (u: Usage, price: Price): number => (u.input * price.input + u.output * price.output) / 1e6;
  return {
    limits,
    spent: () => ({ calls, cachedCalls, inputTokens, outputTokens, usd }),
    cached: () => void cachedCalls++,
    reserve(most, price) {
      const [tokens, dollars] = [most.input + most.output, cost(most, price)];
      const over =
        calls + 1 > (limits.calls ?? Number.POSITIVE_INFINITY)
          ? `${calls} calls of ${limits.calls}`
          : inputTokens + outputTokens + held.tokens + tokens > (limits.tokens ?? Number.POSITIVE_INFINITY)
            ? `${inputTokens + outputTokens} tokens of ${limits.tokens}`
            : usd + held.usd + dollars > (limits.usd ?? Number.POSITIVE_INFINITY)
              ? `$${usd.toFixed(4)} of $${limits.usd}`
              : undefined;
      if (over !== undefined) {
        throw new WhetstoneError("budget.spent", {
          where: "the spending limit",
          got: `${over} used, and a call that may need more than is left`,
          expected: "room for the next call",
          mend: "Raise the limit and go on: replies that were paid for are in the cache.",
        });
      }
      // noted before it is sent: of a process that is killed now, it counts as spent
      note({ calls: 1, inputTokens: most.input, outputTokens: most.output, usd: dollars });
      calls++;
      held.tokens += tokens;
      held.usd += dollars;
      return (used = most) => {
        held.tokens -= tokens;
        held.usd -= dollars;
        inputTokens += used.input;
        outputTokens += used.output;
        usd += cost(used, price);
        note({
          calls: 0,
          inputTokens: used.input - most.input,
          outputTokens: used.output - most.output,
          usd: cost(used, price) - dollars,
        });
      };
    },
  };
}
