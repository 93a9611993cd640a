/** Two roles: a seller names a price, a buyer with a limit of its own takes it or leaves it. */
import { defineEnvironment } from "../../../../src/env/environment.ts";

interface Deal {
  readonly limit: number;
}

const prices = ["1", "2", "3", "4"] as const;
const dealsOf = (split: string): readonly number[] => (split === "train" ? [1, 2, 3] : [2, 4]);

export default defineEnvironment<Deal>({
  name: "bargain",
  summary: "a seller names a price, a buyer answers",
  abilities: new Set(["replay", "legal"]),
  roles: ["seller", "buyer"],
  splits: ["train", "test"],
  limits: { turns: 2, actionTokens: 2 },
  tasks: (split) =>
    dealsOf(split).map((limit, i) => ({
      id: `${split}-${i}`,
      prompt: [{ role: "user", content: `a deal ${split}` }],
      metadata: { limit },
      seed: i,
    })),
  vocabulary: () => [...prices, "a deal train test", "the price is", "yes", "no"],
  start: async (task) => {
    let price: number | undefined;
    return {
      observe: async () =>
        price === undefined
          ? { role: "seller", observation: { messages: [], legal: prices } }
          : {
              role: "buyer",
              observation: {
                messages: [{ role: "user", content: `the price is ${price}` }],
                legal: ["yes", "no"],
              },
            },
      act: async ({ content }) => {
        if (price === undefined) {
          price = Number(content.trim());
          return Number.isFinite(price) ? {} : { end: { kind: "done", reason: "no price", success: false } };
        }
        const success = content.trim() === (price <= task.metadata.limit ? "yes" : "no");
        return { rewards: { outcome: Number(success) }, end: { kind: "done", reason: content, success } };
      },
    };
  },
});
