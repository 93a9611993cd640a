// Preferences from pairs (DPO): customers like the short answer better than the long one, and the right one better than the wrong
// one. Run by itself, this file writes such pairs as TRL keeps them; pairs of your own come in the same way.
//
//     node examples/real/preferences.ts > pairs.jsonl
//     whetstone import pairs.jsonl --from trl --store runs/pairs.sqlite
//     whetstone train --from-feedback runs/pairs.sqlite --method dpo --set imitation=1 --env examples/real/preferences.ts --model SmolLM2-135M-Instruct.Q4_1.gguf --lora 16 --tasks 16 --iterations 20
import {
  defineEnvironment,
  type Environment,
  paid,
  randomStream,
  shuffled,
  type Task,
} from "../../src/index.ts";

interface Question {
  readonly answer: string;
  readonly wrong: string;
}

/** Questions of a split are asked in that split alone. */
const subjects = {
  train: "delivery repair engraving painting assembly tailoring polishing framing".split(" "),
  test: "shipping cancellation cleaning installation".split(" "),
};
const counts = { train: 320, test: 120 };

function taskOf(split: keyof typeof subjects, index: number): Task<Question> {
  const random = randomStream("preferences").split(split, index);
  const days = shuffled(
    Array.from({ length: 40 }, (_, i) => `${i + 2} days`),
    random.split("days"),
  );
  const facts = subjects[split].map((subject, i) => ({ subject, days: days[i]! }));
  const at = random.below(facts.length);
  const { subject, days: answer } = facts[at]!;
  const wrong = facts[(at + 1) % facts.length]!.days;
  const sheet = facts.map((fact) => `${fact.subject}: ${fact.days}`).join("\n");
  const content = `${sheet}\n\nHow long does ${subject} take?`;
  const id = `${split}/${index}`;
  return { id, prompt: [{ role: "user", content }], metadata: { answer, wrong }, seed: index };
}

const shop: Environment<Question> = {
  name: "shop",
  summary: "answer a customer's question rightly and in few words",
  roles: ["agent"],
  splits: ["train", "test"],
  abilities: new Set(["replay", "expert"]),
  limits: { turns: 1, actionTokens: 48 },
  tasks: (split) =>
    split === "train" || split === "test"
      ? Array.from({ length: counts[split] }, (_, i) => taskOf(split, i))
      : [],
  start: async ({ metadata: { answer } }) => ({
    observe: async () => ({ role: "agent", observation: { messages: [] } }),
    act: async ({ content }) => {
      const right = content.match(/\d+ days/g)?.join() === answer;
      const success = right && content.split(/\s+/).length <= 5;
      const outcome = success ? 1 : right ? 0.2 : 0;
      return { rewards: { outcome }, end: { kind: "done", reason: success ? "right" : "wrong", success } };
    },
  }),
  expert: ({ metadata: { answer } }) => `${answer}.`,
  // what customers would say of two replies, for methods that ask while they train
  prefer: async (_, first, second) => (1 + Math.sign(paid(first) - paid(second))) / 2,
};

export default defineEnvironment(shop);

if (import.meta.main) {
  const says = (content: string) => [{ role: "assistant", content }];
  for (const { prompt, metadata, seed } of shop.tasks("train")) {
    const { answer, wrong } = metadata;
    const long = `Thank you for your question. According to our records it takes ${answer}, and we are happy to help.`;
    const rejected = says(seed % 2 === 0 ? long : `${wrong}.`);
    console.log(JSON.stringify({ prompt, chosen: says(`${answer}.`), rejected }));
  }
}
