// Structured extraction: a sentence in, one JSON object out, and a verifier that accepts nothing else.
//
//     whetstone train --env examples/real/extract.ts --model SmolLM2-135M-Instruct.Q4_1.gguf --lora 16 --budget 10m
import { defineEnvironment, type Environment, paid, randomStream, type Task } from "../../src/index.ts";

export interface Person {
  readonly name: string;
  readonly age: number;
  readonly city: string;
}

export const keys = ["name", "age", "city"] as const;

/** Names and cities of a split occur in that split alone: what is learnt is to extract, not to recall. */
const people = {
  train: {
    count: 400,
    first:
      "Anna Ben Chloe David Elena Felix Grace Hugo Iris Jonas Karin Luca Mona Nils Olga Paul Rosa Simon Tara Victor",
    last: "Adler Brandt Costa Duval Eriksen Fischer Garcia Horvat Ito Jansen Keller Lopez Moreau Novak Olsen Peters",
    cities:
      "Berlin Paris Madrid Rome Vienna Prague Lisbon Oslo Dublin Athens Warsaw Zurich Chicago Boston Toronto Sydney",
  },
  test: {
    count: 120,
    first: "Amir Bianca Carlos Dora Emil Fatima Gregor Hana Ivan Julia Kofi Leila Marco Nadia Oscar Priya",
    last: "Quinn Rossi Schmidt Tanaka Ueda Vargas Weber Xu Young Zimmer Abbott Bennett Clarke Dawson",
    cities: "Helsinki Budapest Naples Seville Geneva Krakow Denver Seattle Nairobi Lima Osaka Mumbai",
  },
} as const;

const sentences: readonly ((person: Person) => string)[] = [
  ({ name, age, city }) => `${name} is ${age} years old and lives in ${city}.`,
  ({ name, age, city }) => `At ${age}, ${name} moved to ${city} to open a bakery.`,
  ({ name, age, city }) => `Our guest from ${city}, ${name}, turned ${age} last week.`,
  ({ name, age, city }) => `In ${city} we met ${name}, a ${age}-year-old nurse with two cats.`,
  ({ name, age, city }) => `"I have lived in ${city} since 2009," says ${name}, who is ${age}.`,
  ({ name, age, city }) => `${name} (${age}) runs a bookshop with 3 employees in ${city}.`,
];

function taskOf(split: keyof typeof people, index: number): Task<Person> {
  const { first, last, cities } = people[split];
  const random = randomStream("extract").split(split, index);
  const one = <T>(items: readonly T[]): T => items[random.below(items.length)]!;
  const person: Person = {
    name: `${one(first.split(" "))} ${one(last.split(" "))}`,
    age: 18 + random.below(70),
    city: one(cities.split(" ")),
  };
  const content = `Extract the person as JSON with the keys name, age and city.\n\n${one(sentences)(person)}`;
  return { id: `${split}/${index}`, prompt: [{ role: "user", content }], metadata: person, seed: index };
}

/** 0.1 if the reply parses, 0.2 for each right value, and 1 if the object is the person and nothing else. */
function rewardOf(person: Person, reply: string): number {
  let said: unknown;
  try {
    said = JSON.parse(reply);
  } catch {
    return 0;
  }
  if (typeof said !== "object" || said === null) return 0;
  const right = keys.filter((key) => Reflect.get(said, key) === person[key]).length;
  return right === keys.length && Object.keys(said).length === keys.length ? 1 : 0.1 + 0.2 * right;
}

const extract: Environment<Person> = {
  name: "extract",
  summary: "write the person of a sentence as JSON: name, age and city",
  roles: ["agent"],
  splits: ["train", "test"],
  abilities: new Set(["replay", "expert"]),
  limits: { turns: 1, actionTokens: 48 },
  tasks: (split) =>
    split === "train" || split === "test"
      ? Array.from({ length: people[split].count }, (_, i) => taskOf(split, i))
      : [],
  start: async ({ metadata }) => ({
    observe: async () => ({ role: "agent", observation: { messages: [] } }),
    act: async ({ content }) => {
      const outcome = rewardOf(metadata, content);
      const success = outcome === 1;
      return { rewards: { outcome }, end: { kind: "done", reason: success ? "right" : "wrong", success } };
    },
  }),
  expert: ({ metadata: { name, age, city } }) => JSON.stringify({ name, age, city }),
  // for methods that learn from pairs
  prefer: async (_, first, second) => (1 + Math.sign(paid(first) - paid(second))) / 2,
};

export default defineEnvironment(extract);
