/** `whetstone prices` and `whetstone costs`: what models cost, and what recorded calls came to. */
import { type Command, Option } from "commander";
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { ModelPrice, ServedResponse } from "../core/served.ts";
import { type PriceTable, storedPrices, tokensOf } from "../serve/costs.ts";
import { answeredTag } from "../serve/gateway/firstOf.ts";
import { keyTag } from "../serve/gateway/spending.ts";
import { seconds } from "./durations.ts";
import { addCommand, folded, type Io, roomOf, table } from "./output.ts";
import { trafficStoreOption, withTrafficStore } from "./trafficStore.ts";

interface StoreFlags {
  readonly store: string;
}

export function addPrices(program: Command, io: Io): void {
  const prices = addCommand(program, "prices", "Edit the table of what models cost.", [
    "whetstone prices set gpt-5-mini 0.25,2",
    "whetstone prices set 'gpt-5*' 1.25,10",
    "whetstone prices list",
    "whetstone prices remove gpt-5-mini",
  ]);
  addCommand(prices, "set", "Set a model's price. It also holds for calls that were recorded before.", [
    "whetstone prices set gpt-5-mini 0.25,2",
    "whetstone prices set 'claude-*' 3,15",
  ])
    .argument("<model>", "as upstreams are asked for it; with * at the end, every name that begins so")
    .argument("<in,out>", "dollars per million tokens read and written, such as 0.25,2")
    .addOption(trafficStoreOption())
    .action(async (model: string, stated: string, { store }: StoreFlags) => {
      requireName(model);
      const price: ModelPrice = { id: model, ...priceIn(stated) };
      await withTrafficStore(store, (production) => production.putPrice(price));
      io.record({ type: "price", ...price });
      io.say(`${model}: $${price.input} per million tokens read, $${price.output} written.`);
    });
  addCommand(prices, "list", "List the prices.", ["whetstone prices list", "whetstone prices list --json"])
    .addOption(trafficStoreOption())
    .action(async ({ store }: StoreFlags) => {
      const found = (await withTrafficStore(store, (production) => production.prices())).filter(
        ({ removed }) => !removed,
      );
      for (const price of found) io.record({ type: "price", ...price });
      if (found.length === 0) return io.say("No prices yet. Set one with: whetstone prices set MODEL 0.25,2");
      const rows = found.map(({ id, input, output }) => [id, `${input}`, `${output}`]);
      io.say(...table(["model", "$ per million read", "written"], rows, roomOf(io)));
    });
  addCommand(prices, "remove", "Remove a model's price.", ["whetstone prices remove gpt-5-mini"])
    .argument("<model>", "as it is listed")
    .addOption(trafficStoreOption())
    .action(async (model: string, { store }: StoreFlags) => {
      await withTrafficStore(store, async (production) => {
        const known = (await production.prices()).filter(({ removed }) => !removed);
        const price = known.find(({ id }) => id === model);
        if (!price) {
          throw unknownName(
            "price",
            model,
            known.map(({ id }) => id),
          );
        }
        await production.putPrice({ ...price, removed: true });
      });
      io.record({ type: "price", id: model, removed: true });
      io.say(`${model} has no price of its own any more.`);
    });
}

/** What calls can be counted by. */
const groups = {
  model: ({ model }: ServedResponse) => model,
  version: ({ version, tags }: ServedResponse) => tags[answeredTag] ?? version,
  user: ({ user }: ServedResponse) => user ?? "(none)",
  session: ({ session }: ServedResponse) => session,
  key: ({ tags }: ServedResponse) => tags[keyTag] ?? "(none)",
  day: ({ at }: ServedResponse) => new Date(at).toISOString().slice(0, 10),
} as const;

interface CostsFlags extends StoreFlags {
  readonly by: keyof typeof groups;
  readonly since?: string;
}

interface Sum {
  calls: number;
  input: number;
  output: number;
  usd: number;
  /** Calls of models without a price, which `usd` does not contain. */
  unpriced: number;
}

export function addCosts(program: Command, io: Io): void {
  addCommand(program, "costs", "Sum up what the recorded calls cost, by the table of prices as it is now.", [
    "whetstone costs",
    "whetstone costs --by day --since 30d",
    "whetstone costs --by key --json",
  ])
    .addOption(
      new Option("--by <what>", "what calls are summed by").choices(Object.keys(groups)).default("model"),
    )
    .option("--since <duration>", "only calls of the last while, such as 24h or 30d (default: all)")
    .addOption(trafficStoreOption())
    .action((flags: CostsFlags) =>
      withTrafficStore(
        flags.store,
        async (production) => {
          const { by, since } = flags;
          const from = since === undefined ? {} : { from: Date.now() - 1000 * seconds("--since", since) };
          const prices = await storedPrices(production);
          const sums = new Map<string, Sum>();
          const all: Sum = { calls: 0, input: 0, output: 0, usd: 0, unpriced: 0 };
          const unknown = new Set<string>();
          for await (const response of production.responses(from)) {
            const name = groups[by](response);
            const sum = sums.get(name) ?? { calls: 0, input: 0, output: 0, usd: 0, unpriced: 0 };
            sums.set(name, sum);
            const { input, output } = tokensOf(response);
            const usd = prices.costOf(response);
            if (usd === undefined) unknown.add(pricedModel(prices, response));
            for (const one of [sum, all]) {
              one.calls++;
              one.input += input;
              one.output += output;
              if (usd === undefined) one.unpriced++;
              else one.usd += usd;
            }
          }
          for (const [name, sum] of sums) io.record({ type: "cost", by, name, ...sum });
          io.record({ type: "total", ...all });
          if (all.calls === 0) {
            return io.say(
              since === undefined
                ? "No calls are recorded. whetstone serve records them."
                : `No calls are recorded in the last ${since}.`,
            );
          }
          const rows = [...sums].toSorted(([, a], [, b]) => b.usd - a.usd || b.calls - a.calls);
          const row = (name: string, { calls, input, output, usd, unpriced }: Sum) => [
            name,
            `${calls}`,
            `${input}`,
            `${output}`,
            unpriced === calls && calls > 0 ? "no price" : usd.toFixed(4),
            unpriced === 0 ? "" : `${unpriced}`,
          ];
          io.say(
            ...table(
              [by, "calls", "tokens read", "written", "$", "without a price"],
              [...rows.map(([name, sum]) => row(name, sum)), row("all", all)],
              roomOf(io),
            ),
          );
          if (unknown.size > 0) {
            io.say(
              ...folded(
                io,
                `No price: ${[...unknown].toSorted().join(", ")}. Set each, in dollars per million tokens read and written, with: whetstone prices set '${[...unknown].toSorted()[0]}' 0.25,2`,
              ),
            );
          }
        },
        "there",
      ),
    );
}

/** The model whose price counts for a call. */
const pricedModel = (prices: PriceTable, { version, model, tags }: ServedResponse): string =>
  prices.of(tags[answeredTag] ?? version, model)[0]?.model ?? model;

/** @throws WhetstoneError `option.range` for a * that is not at the end: it would stand for itself, and no model is called so. */
function requireName(model: string): void {
  const at = model.indexOf("*");
  if (model !== "" && (at === -1 || at === model.length - 1)) return;
  throw new WhetstoneError("option.range", {
    where: "prices set",
    got: `the model "${model}"`,
    expected: "a model's name, with at most one *, at its end",
    fix: "Write for example gpt-5-mini or 'gpt-5*'.",
  });
}

/** Reads "0.25,2". */
export function priceIn(text: string): Pick<ModelPrice, "input" | "output"> {
  const [input = Number.NaN, output = Number.NaN, ...more] = text
    .split(",")
    .map((part) => Number(part || "x"));
  if (more.length === 0 && [input, output].every((n) => Number.isFinite(n) && n >= 0))
    return { input, output };
  throw new WhetstoneError("option.range", {
    where: "prices set",
    got: `"${text}"`,
    expected: "two numbers of 0 or more, in dollars per million tokens read and written",
    fix: "Write for example 0.25,2.",
  });
}
