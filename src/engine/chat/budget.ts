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
   * Sets aside what a call may cost at the most, so that a limit holds also where a provider fails halfway. Where only what is set
   * aside for calls under way stands in the way, it waits for them: as a rule they need less.
   * @throws WhetstoneError `budget.spent` where the limits do not bear the call, before anything is sent.
   */
  reserve(most: Usage, price: Price): Promise<Reservation>;
}

/** Room for one call. */
export interface Reservation {
  /** It was answered. @param used what it took. Default: all that was set aside, since nobody said. */
  paid(used?: Usage): void;
  /** It is over: what was never answered is given back. */
  end(): void;
}

/** @param ledger of the processes that the limits hold for together. Default: this one alone. */
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
      // noted before it is sent: of a process that is killed now, it counts as spent
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
    got: `${used} used, and a call that may need more than is left`,
    expected: "room for the next call",
    mend: "Raise the limit and go on: replies that were paid for are in the cache.",
  });
