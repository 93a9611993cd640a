/** A table in a language model's place: it does as the example that shares most words with the ticket did; weights go by words. */
import { tabularEngine } from "../../src/engine/index.ts";
import environment from "./tickets.ts";

const plans = new Set(environment.tasks("train").flatMap(({ reference }) => reference ?? []));
const wordsOf = (text: string): readonly string[] => text.match(/[a-z]+/g) ?? [];

export default tabularEngine({
  context: "message",
  prior: (_context, word) => (plans.has(word) ? 0 : -1e9),
  // one number for each word of the ticket and each plan: what is learnt of one ticket holds for others
  features: (context) => context.filter((word) => !word.startsWith("<")).map((word) => `has ${word}`),
  reading: {
    isRead: () => false,
    replied: () => true,
    shift: (told, _reply, word, context) => {
      const asked = new Set(context);
      const shared = told
        .map((text) => text.split(" → "))
        .map(([situation = "", plan]) =>
          plan === word ? wordsOf(situation).filter((one) => asked.has(one)).length : 0,
        );
      return Math.max(0, ...shared);
    },
  },
});
