/** A sound environment of the tests' own: a parcel goes to the dock that its label names. Each broken one changes one part. */
import type { Message, Task } from "../../../src/core/types.ts";
import type { Environment, Episode, Step } from "../../../src/env/environment.ts";

const cities: readonly string[] = ["lima", "oslo", "cairo", "quito", "seoul", "paris"];
export const docks = ["north", "south", "west"] as const;
const dockOf = (city: string): string => docks[cities.indexOf(city) % docks.length]!;

export const user = (content: string): Message => ({ role: "user", content });

/** Tasks `from` to before `until`; each has a parcel of its own. */
export const tasksBetween = (from: number, until: number): Task[] =>
  Array.from({ length: until - from }, (_, i) => {
    const number = from + i;
    const city = cities[number % cities.length]!;
    return {
      id: `parcel-${number}`,
      prompt: [user("a parcel has come")],
      reference: dockOf(city),
      metadata: { city },
      seed: number,
    };
  });

export const splits: Readonly<Record<string, readonly [number, number]>> = {
  train: [0, 24],
  validation: [24, 30],
  test: [30, 42],
};

/** First "look", which tells the city; then a dock. */
export function play(
  task: Task,
  more: Partial<Episode> = {},
  at: { seen: boolean } = { seen: false },
): Episode {
  const state = { ...at };
  return {
    observe: async () => ({
      role: "agent",
      observation: {
        messages: state.seen ? [user(`the label says ${String(task.metadata.city)}`)] : [],
        stateKey: `${task.id} ${state.seen}`,
        legal: state.seen ? docks : ["look", ...docks],
      },
    }),
    async act({ content }): Promise<Step> {
      const said = content.trim();
      if (said === "look" && !state.seen) {
        state.seen = true;
        return { rewards: { outcome: 0 } };
      }
      const success = said === task.reference;
      return { rewards: { outcome: Number(success) }, end: { kind: "done", reason: said, success } };
    },
    ...more,
  };
}

export const parcels = (more: Partial<Environment> = {}): Environment => ({
  name: "parcels",
  summary: "look at the label, then choose the dock",
  abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
  roles: ["agent"],
  splits: Object.keys(splits),
  limits: { turns: 3, actionTokens: 3, seconds: 0.3 },
  tasks: (split) => tasksBetween(...(splits[split] ?? [0, 0])),
  vocabulary: () => [...cities, ...docks, "a parcel has come", "the label says", "look"],
  start: async (task) => play(task),
  expert: (task, conversation) => (conversation.length > 1 ? String(task.reference) : "look"),
  ...more,
});
