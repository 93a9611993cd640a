/** What recorded calls cost, from their tokens and a table of prices that people keep. */
import { mapById } from "../common/mapById.ts";
import type { ModelPrice, ResponseHead, ServedResponse, Version } from "../core/served.ts";
import type { Id, Message } from "../core/types.ts";
import { charactersIn, charactersOf } from "../store/head.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import { answeredTag } from "./gateway/firstOf.ts";

/** Tokens of a call. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
}

/** What answers, and at which price: "free" for weights of one's own, undefined for a model that nobody has priced. */
export interface Priced {
  readonly model: string;
  readonly price: Pick<ModelPrice, "input" | "output"> | "free" | undefined;
}

/** Prices of the models behind versions. */
export interface PriceTable {
  /**
   * @param version that answers. @param model that the client named; a version's own model comes first.
   * @returns several for an order of versions, any of which may answer.
   */
  of(version: Id, model: string): readonly Priced[];
  /** Dollars of a recorded call; undefined where its model has no price. */
  costOf(response: ServedResponse | ResponseHead): number | undefined;
}

/** The prices of a store as they are now. */
export const storedPrices = async (
  production: Pick<TrafficStore, "prices" | "versions">,
): Promise<PriceTable> => priceTable(...(await Promise.all([production.prices(), production.versions()])));

/** @param prices of which one whose id ends in `*` holds for every model that begins so; the longest that fits counts. */
export function priceTable(prices: readonly ModelPrice[], versions: readonly Version[]): PriceTable {
  const known = mapById(versions);
  const table = prices.filter(({ removed }) => !removed);
  const priceOf = (model: string): ModelPrice | undefined => {
    const fits = table.filter(({ id }) =>
      id.endsWith("*") ? model.startsWith(id.slice(0, -1)) : id === model,
    );
    const exact = fits.find(({ id }) => id === model);
    return exact ?? fits.toSorted((a, b) => b.id.length - a.id.length)[0];
  };
  const of = (version: Id, model: string): readonly Priced[] => {
    const backend = known.get(version)?.backend;
    switch (backend?.kind) {
      case "run":
      case "local":
        return [{ model, price: "free" }];
      case "artefact":
        return [backend.over, backend.guide].flatMap((id) => (id === undefined ? [] : of(id, model)));
      case "firstOf":
        return backend.versions.flatMap((id) => of(id, model));
      default: {
        const own = backend?.model ?? model;
        return [{ model: own, price: priceOf(own) }];
      }
    }
  };
  return {
    of,
    costOf(response) {
      const { version, model, tags } = response;
      // a guide writes hints in calls of its own, which are not recorded: the version that answered counts
      const [priced] = of(tags[answeredTag] ?? version, model);
      if (priced?.price === undefined) return undefined;
      return dollars(priced.price, tokensOf(response));
    },
  };
}

/** @param price in dollars per million tokens. */
export const dollars = (price: NonNullable<Priced["price"]>, { input, output }: Tokens): number =>
  price === "free" ? 0 : (input * price.input + output * price.output) / 1e6;

/** Characters that count as a token where nobody has counted: fewer than texts in English have, so that budgets hold. */
const charactersOfToken = 3;
export const tokensIn = (characters: number): number => Math.ceil(characters / charactersOfToken);

/** The same for messages, with their calls and tools. */
export const tokensInMessages = (messages: readonly Message[]): number => tokensIn(charactersIn(messages));

/**
 * Tokens as the backend counted them; else estimated from the texts. A call without an answer has none. Of an answer that was cut off the larger
 * numbers count: some backends state the output at the beginning, when it is one token long.
 */
export function tokensOf(call: ServedResponse | ResponseHead): Tokens {
  const { usage, status } = call;
  if (usage && status !== "cut") return usage;
  if (status === "failed") return { input: 0, output: 0 };
  const { prompt = 0, replies = 0 } = ("choices" in call ? charactersOf(call) : call.characters) ?? {};
  const output = tokensIn(replies);
  if (usage) return { input: usage.input, output: Math.max(usage.output, output) };
  return { input: tokensIn(prompt), output };
}
