/** Selling a car to somebody whose limit is not known: talk first, or name a price. */
import { randomStream } from "../../core/random.ts";
import type { Message, Task, Trajectory } from "../../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Player,
  type Step,
} from "../environment.ts";
import { heldOutSplits, itemsOf } from "../heldOut.ts";
import {
  type Buyer,
  bestPrice,
  buyersWords,
  listPrices,
  moveIn,
  opening,
  outputRequestOf,
  scriptedBuyer,
  tempers,
  type Wish,
} from "./buyers.ts";

/** Settings of {@link carDealer}. */
export interface CarDealerOptions {
  /** Default: scripted. A chat model has to keep to `deal` and `goodbye`, see {@link Buyer}. */
  readonly buyer?: Buyer;
  /** Things said by the dealer at most. Default 8. */
  readonly turns?: number;
  /** Which buyers are trained. Default 1. */
  readonly seed?: number;
}

/** Share of the best price from which a sale is a success. */
const goodShare = 0.9;

const texts = {
  cheap: "the buyer would have paid more",
  left: "the buyer lost patience",
  other: "the buyer wants another car",
  unclear: "name a car and a price , ask for the budget , or tell of the warranty",
};

/**
 * The agent sells. It says `offer van 34` (thousands), `ask budget` or `tell warranty`, or anything in which these words
 * stand. Reward `outcome` at the end: the price as a share of the best that this buyer would have paid, 0 without a sale; a
 * sale is a success from nine tenths on. The texts say, afterwards, that more could have been got, and why an offer was
 * in vain. The expert knows the buyer; the flawed player begins at the list price and comes down by 2 until it is taken.
 * Paper: "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models".
 */
export function carDealer(options: CarDealerOptions = {}): Environment {
  const { buyer = scriptedBuyer, turns = 8, seed = 1 } = options;

  function start(task: Task): Episode {
    const conversation: Message[] = [...task.prompt];
    let [made, ended] = [0, false];
    const wish = outputRequestOf(task);
    return {
      observe: async () => ({
        role: "agent",
        observation: {
          messages: made === 0 ? [] : conversation.slice(-1),
          stateKey: `${task.id} ${conversation.map((m) => m.content).join(" | ")}`,
        },
      }),
      async act({ content }): Promise<Step> {
        if (ended) return alreadyOver;
        made++;
        conversation.push({ role: "assistant", content });
        const reply = await buyer(task, conversation);
        conversation.push({ role: "user", content: reply });
        const step = stepOf(wish, content, reply);
        ended = step.end !== undefined || made >= turns;
        if (step.end || !ended) return step;
        return { ...step, rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: made } };
      },
    };
  }

  return defineEnvironment({
    name: "car-dealer",
    summary: "sell a car to somebody whose limit and temper have to be found out, at the best price",
    // another buyer may answer differently each time
    abilities: new Set(["stateKey", "expert", ...(options.buyer ? [] : (["replay"] as const))] as const),
    roles: ["agent"],
    splits: heldOutSplits,
    limits: { turns, actionTokens: 12 },
    tasks: (split) =>
      itemsOf(wishes, split, randomStream(seed).split("buyers")).map((wish, i) => ({
        id: `car-dealer/${split}/${i}`,
        prompt: [{ role: "user", content: opening(wish) }],
        metadata: { ...wish },
        seed: randomStream(seed).split("car dealer", split, i).seed,
      })),
    start: async (task) => start(task),
    vocabulary: () => [
      "offer ask budget tell warranty",
      ...Object.keys(listPrices),
      ...Array.from({ length: 99 }, (_, i) => `${i + 1}`),
      ...buyersWords,
      ...Object.values(texts),
    ],
    expert,
    flawed,
    async verify(task: Task, { turns: said }: Trajectory) {
      // a buyer who may answer differently is not asked again: what was paid is all that is known
      if (options.buyer) return { outcome: said.at(-1)?.rewards.outcome ?? 0 };
      const episode = start(task);
      for (const { action } of said) {
        const { end, rewards } = await episode.act({ content: action.content, stop: "eos" });
        if (end) return { outcome: rewards?.outcome ?? 0 };
      }
      return { outcome: 0 };
    },
  });
}

/** What a dealer's words and the answer to them lead to. */
function stepOf(wish: Wish, said: string, reply: string): Step {
  const move = moveIn(said);
  if (/^goodbye\b/i.test(reply))
    return {
      rewards: { outcome: 0 },
      text: texts.left,
      end: { kind: "done", reason: "left", success: false },
    };
  if (/^deal\b/i.test(reply) && move.kind === "offer") {
    const outcome = Math.min(1, move.price / bestPrice(wish));
    return {
      rewards: { outcome },
      ...(outcome < 1 && { text: texts.cheap }),
      end: { kind: "done", reason: `sold for ${move.price}`, success: outcome >= goodShare },
    };
  }
  if (move.kind === "unclear") return { text: texts.unclear };
  return move.kind === "offer" && move.car !== wish.car ? { text: texts.other } : {};
}

/** Every car, temper, and limit from six below the list price to two above. */
const wishes: readonly Wish[] = Object.entries(listPrices).flatMap(([car, price]) =>
  tempers.flatMap((temper) => Array.from({ length: 9 }, (_, i) => ({ car, limit: price - 6 + i, temper }))),
);

const saidBy = (conversation: readonly Message[]): string[] =>
  conversation.flatMap((m) => (m.role === "assistant" ? [m.content] : []));

const expert: Player = (task, conversation) => {
  const wish = outputRequestOf(task);
  const first = saidBy(conversation).length === 0;
  if (wish.temper === "careful" && first) return "tell warranty";
  return `offer ${wish.car} ${bestPrice(wish) + (wish.temper === "haggler" && first ? 1 : 0)}`;
};

const flawed: Player = (task, conversation) => {
  const { car } = outputRequestOf(task);
  return `offer ${car} ${listPrices[car]! - 2 * saidBy(conversation).length}`;
};
