/** A table in a language model's place: what it is told of wrong words, it goes by at once; what it is paid for, it can learn. */
import { tabularEngine } from "../../src/engine/index.ts";

export default tabularEngine({
  context: "message",
  prior: (_context, word) => (/^w\d$/.test(word) ? 0 : -1e9),
  reading: {
    isRead: (message) => message.startsWith("not "),
    shift: (told, reply, word) => {
      const blamed = new Set(told.flatMap((text) => text.match(/w\d+ at \d+/g) ?? []));
      return blamed.has(`${word} at ${reply.length + 1}`) ? -4 : 0;
    },
  },
});
