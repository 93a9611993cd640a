/** Artefacts whose files are wrong: headings, ids, JSON within JSON. */
import type { Random } from "../../src/core/random.ts";
import { artefactFiles } from "./endpoints.ts";
import { deep, large, mutated, oddJson, oddTexts, pick, randomText } from "./odd.ts";

const kinds = Object.entries(artefactFiles);

/** @param version an id of who is told it. @returns the body of a request. */
export function oddArtefact(version: string, random: Random): string {
  const [kind, files] = pick(kinds, random);
  const named = pick(Object.entries(files), random);
  const [file, text] = [random.below(20) === 0 ? pick(oddTexts, random) : named[0], named[1]];
  const wrong = file.endsWith(".json") ? wrongJson(text, random) : wrongText(text, random);
  const artefact = {
    name: random.below(10) === 0 ? pick(oddTexts, random) : `a${random.below(100)}`,
    kind,
    files: Object.fromEntries([...Object.entries(files), [file, wrong]]),
    ...(random.below(10) === 0 && { parents: [pick(oddTexts, random), pick(oddTexts, random)] }),
  };
  return JSON.stringify({ artefact, over: version, ...(kind === "guide" && { guide: version }) });
}

function wrongJson(text: string, random: Random): string {
  switch (random.below(6)) {
    case 0:
      return oddJson(random);
    case 1:
      return deep(random);
    case 2:
      return random.below(20) === 0 ? large(random) : "";
    case 3:
      return `{"__proto__":${text},"constructor":${text}}`;
    default:
      return mutated(text, random);
  }
}

const ids = [
  "s-1",
  "s-1",
  "../../x",
  "a/b",
  ".",
  "__proto__",
  "constructor",
  "\u0000",
  "\ud800",
  "a".repeat(300),
] as const;
const words = ["strategy", "warning", "success", "failure", "skill", "tool", "", "__proto__"] as const;
const lines = ["> quoted", "", "\\# no heading", "> > twice", "text", "```", "# h", "\r", "{hint}"] as const;

/** Sections with ids that are odd or there twice, headings that are none, lines without an end. */
function wrongText(text: string, random: Random): string {
  const section = (): string =>
    [
      `##${pick([" ", "", "\t", " ".repeat(3000)], random)}${pick(words, random)} \`${pick(ids, random)}\``,
      ...Array.from({ length: random.below(5) }, () => pick(lines, random)),
      random.below(5) === 0 ? randomText(random) : "says so",
    ].join("\n");
  switch (random.below(5)) {
    case 0:
      return text + text;
    case 1:
      return randomText(random);
    case 2:
      return pick(["`", "#", "## ", "> ", "```\n", "\n", "{hint}", "## strategy `"], random).repeat(
        10 ** (1 + random.below(4)),
      );
    default:
      return Array.from({ length: 1 + random.below(6) }, section).join("\n");
  }
}
