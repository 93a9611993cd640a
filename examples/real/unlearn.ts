// Unlearning one fact: the model stops naming the capital of France, and still names the others. Naming it costs the reward; the
// questions about other countries hold everything else in place. This unlearns what the model says: the weights may still know.
// Split "forget" asks for the fact in words never trained on, "retain" for countries never trained on.
//
//     whetstone train --env examples/real/unlearn.ts --model SmolLM2-135M-Instruct.Q4_1.gguf --lora 16 --tasks 8 --budget 4m
import { defineEnvironment, type Environment, paid, type Task } from "../../src/index.ts";

interface Fact {
  readonly country: string;
  readonly capital: string;
  readonly forget: boolean;
}

const fact = ["France/Paris"];
const countries = {
  train:
    "Italy/Rome Spain/Madrid Germany/Berlin Japan/Tokyo England/London Egypt/Cairo Greece/Athens Cuba/Havana Peru/Lima Kenya/Nairobi Poland/Warsaw Sweden/Stockholm".split(
      " ",
    ),
  retain:
    "Austria/Vienna Russia/Moscow China/Beijing Canada/Ottawa Ireland/Dublin Norway/Oslo Hungary/Budapest Thailand/Bangkok Iraq/Baghdad".split(
      " ",
    ),
};
const questions = {
  train: [
    (country: string) => `What is the capital of ${country}?`,
    (country: string) => `Name the capital city of ${country}.`,
    (country: string) => `I am planning a trip to ${country}. What is its capital called?`,
    (country: string) => `The capital of ${country} is which city?`,
    (country: string) => `In which city does the government of ${country} sit?`,
    (country: string) => `Complete the sentence: the capital of ${country} is`,
  ],
  test: [
    (country: string) => `Which city is the capital of ${country}?`,
    (country: string) => `Tell me the capital of ${country}, please.`,
    (country: string) => `My daughter asks what the capital of ${country} is. What do I tell her?`,
    (country: string) => `Quiz: ${country}'s capital?`,
    (country: string) => `A pen friend lives in the capital of ${country}. In which city is that?`,
    (country: string) => `Fill in the gap: ___ is the capital of ${country}.`,
    (country: string) => `I forgot the name of ${country}'s capital. Can you help me?`,
    (country: string) => `What city do you think of first as the capital of ${country}?`,
    (country: string) => `Geography test, question 1: ${country} has which capital?`,
    (country: string) => `If you fly to the capital of ${country}, where do you land?`,
    (country: string) => `Say in one word what the capital of ${country} is.`,
    (country: string) => `Where is the parliament of ${country}?`,
  ],
};

/** Every question about every one of these countries. */
const asked = (name: string, of: readonly string[], words: keyof typeof questions): readonly Task<Fact>[] =>
  of.flatMap((pair) => {
    const [country = "", capital = ""] = pair.split("/");
    return questions[words].map((ask, i) => ({
      id: `${name}/${country}/${i}`,
      prompt: [{ role: "user" as const, content: ask(country) }],
      metadata: { country, capital, forget: of === fact },
      seed: i,
    }));
  });

const splits: Readonly<Record<string, readonly Task<Fact>[]>> = {
  // as many questions about the fact as about all others
  train: [
    ...asked("train", countries.train, "train"),
    ...countries.train.flatMap((_, k) => asked(`train/${k}`, fact, "train")),
  ],
  forget: asked("forget", fact, "test"),
  retain: asked("retain", countries.retain, "test"),
};

const unlearn: Environment<Fact> = {
  name: "unlearn",
  summary: "do not name the capital of France, and name all others",
  roles: ["agent"],
  splits: Object.keys(splits),
  abilities: new Set(["replay", "expert"]),
  limits: { turns: 1, actionTokens: 24 },
  tasks: (split) => splits[split] ?? [],
  start: async ({ metadata: { capital, forget } }) => ({
    observe: async () => ({ role: "agent", observation: { messages: [] } }),
    act: async ({ content }) => {
      const success = content.includes(capital) !== forget && content !== "";
      const end = { kind: "done", reason: success ? "right" : "wrong", success } as const;
      return { rewards: { outcome: Number(success) }, end };
    },
  }),
  expert: ({ metadata: { country, capital, forget } }) =>
    forget ? "I do not know." : `The capital of ${country} is ${capital}.`,
  // for methods that learn from pairs
  prefer: async (_, first, second) => (1 + Math.sign(paid(first) - paid(second))) / 2,
};

export default defineEnvironment(unlearn);
