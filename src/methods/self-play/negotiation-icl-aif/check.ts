import type { Able } from "../../../core/evaluator.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { gameWord } from "./criticisedGames.ts";
import { cost, haggling, highest, suggestions } from "./haggling.ts";
import { criticisedBy, negotiationIclAif } from "./method.ts";

const rounds = 5;

/** What the seller asks in an exchange, after these suggestions: it begins at 20 and goes down by four, by less for each "hold". */
function plan(exchange: number, told: readonly string[]): string {
  const count = (words: string): number => told.filter((message) => message.endsWith(words)).length;
  const step = Math.max(0.5, 4 - 0.8 * (count(suggestions.deal) - count(suggestions.breakdown)));
  return `p${Math.max(cost + 1, Math.round(highest - step * exchange))}`;
}

const exchangeIn = (context: readonly string[]): number => Number(context[context.indexOf("exchange") + 1]);
/** Logit of what it plans to ask. */
const strength = 6;

/** A seller that follows suggestions, by a rule: its weights are never trained. */
const seller = () =>
  tabularEngine({
    context: "message",
    prior: (context, word) =>
      /^p\d+$/.test(word) ? (word === plan(exchangeIn(context), []) ? strength : 0) : -1e9,
    reading: {
      isRead: (message) => message.startsWith(gameWord),
      // moves the strength from the first plan to the one after the suggestions
      shift: (told, _reply, word, context) =>
        (word === plan(exchangeIn(context), told) ? strength : 0) -
        (word === plan(exchangeIn(context), []) ? strength : 0),
    },
  });

const arm = (what: string, critic?: Able<"critique">): Arm => ({
  what,
  grid: [{ rounds }],
  async measure(_choice, seed) {
    const { curve, counters } = await trainInMemory({
      environment: haggling({ buyers: 80, seed }),
      method: method({ ...negotiationIclAif, summary: what, slots: criticisedBy(critic) }).build({
        tasks: 80,
        groupSize: 2,
      }),
      engine: seller(),
      seed,
      iterations: 1,
    });
    const [stats = {}] = curve;
    const of = (name: string, r: number): number => stats[`${name}.${r}`] ?? Number.NaN;
    const price = (r: number): number => cost + (highest - cost) * of("onDeals", r);
    return {
      value: price(rounds),
      cost: { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 },
      curve: Array.from({ length: rounds }, (_, r) => of("utility", r + 1)),
      more: {
        "price, first round": price(1),
        "deals, first round": of("deals", 1),
        "deals, last round": of("deals", rounds),
        "utility, first round": of("utility", 1),
        "utility, last round": of("utility", rounds),
      },
    };
  },
});

export default defineCheck({
  id: "negotiation-icl-aif",
  level: "law",
  simpler: ["baseline", "history alone"],
  claim:
    "With a critic's suggestions on earlier games in its context, a seller gets better prices where it sells.",
  metric: "mean price of the deals of the fifth game",
  direction: "higher",
  smallestEffect: 0.3,
  range: [cost, highest],
  unequalCost: "equal games; who holds out for a price names more prices",
  notes:
    "The seller follows suggestions by a rule, so that prices rise by construction: the check tests games, critic, context and report, not whether a model can use advice. Deal rates and utilities of the first and last round are beside the price: the utility of all games, deal rate times mean utility of a deal, falls from 0.33 in the first game to 0.31 in the fifth, with suggestions at random to 0.30 and with earlier games alone to 0.32, so that here better prices cost more deals than they are worth, which the paper warns of.",
  baseline: arm("suggestions at random", scriptedCritiquer({ accuracy: 0.5 })),
  method: arm("the critic's suggestions", scriptedCritiquer()),
  others: { "history alone": arm("earlier games without suggestions") },
});
