import { nearest } from "../../common/text/suggest.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Grammar, Node } from "./tree.ts";

/** A text line with a node. */
interface Line {
  /** From 1. */
  readonly number: number;
  readonly depth: number;
  readonly words: readonly string[];
}

/**
 * Parses the text form of a tree, which {@link showTree} writes; empty lines and lines that begin with # are ignored.
 * @throws WhetstoneError `config.invalid` that names the line: a node that does not exist, a name that the grammar lacks,
 *   blanks that fit no parent, a selector or sequence without children, children of anything else, a second root, more
 *   nodes or levels than allowed.
 */
export function parseTree(text: string, grammar: Grammar): Node {
  const { nodes = 25, depth: deepest = 6 } = grammar.limits ?? {};
  const lines = text.split("\n").flatMap((line, i) => lineOf(line, i + 1));
  const [root, ...rest] = lines;
  if (!root) throw refused(1, "no node", "a tree", "Begin with selector, sequence, or do and a skill.");
  for (const [i, line] of lines.entries()) {
    const above = lines[i - 1];
    if (i === nodes)
      throw refused(line.number, `node ${i + 1}`, `at most ${nodes} nodes`, "Take nodes away.");
    if (line.depth >= deepest)
      throw refused(line.number, `level ${line.depth + 1}`, `at most ${deepest} levels`, "Nest less.");
    if (line.depth > (above ? above.depth + 1 : 0))
      throw refused(
        line.number,
        `${2 * line.depth} blanks`,
        `at most ${above ? 2 * above.depth + 2 : 0} blanks`,
        "Indent a child by two blanks more than its parent.",
      );
  }
  const second = rest.find(({ depth }) => depth === 0);
  if (second)
    throw refused(second.number, "a second root", "one root", "Put both under a selector or sequence.");
  return nodeOf(lines, 0, grammar);
}

/** The node at a line, with its subtree. */
function nodeOf(lines: readonly Line[], at: number, grammar: Grammar): Node {
  const line = lines[at]!;
  const [kind = "", ...words] = line.words;
  const end = lines.findIndex(({ depth }, i) => i > at && depth <= line.depth);
  const below = lines.slice(at + 1, end === -1 ? undefined : end);
  if (kind === "selector" || kind === "sequence") {
    if (words.length > 0)
      throw refused(line.number, `"${words.join(" ")}" after ${kind}`, "nothing", "Give children lines.");
    if (below.length === 0)
      throw refused(line.number, `a ${kind} without children`, "at least one", "Indent one below it.");
    const children = below.flatMap((child, i) => (child.depth === line.depth + 1 ? [at + 1 + i] : []));
    return { kind, children: children.map((child) => nodeOf(lines, child, grammar)) };
  }
  if (below[0] && (kind === "if" || kind === "do" || kind === "neural"))
    throw refused(below[0].number, `a child of "${kind}"`, "a child of selector or sequence", "Indent less.");
  switch (kind) {
    case "if": {
      const holds = words[0] !== "not";
      return { kind: "condition", fact: nameOf(line, words.slice(holds ? 0 : 1), grammar.facts), holds };
    }
    case "do":
      return { kind: "action", skill: nameOf(line, words, grammar.skills) };
    case "neural":
      return { kind: "neural", name: nameOf(line, words, grammar.neural ?? []) };
    default:
      throw refused(
        line.number,
        `"${kind}"`,
        "selector, sequence, if, do or neural",
        fixFor(kind, ["selector", "sequence", "if", "do", "neural"]),
      );
  }
}

/** The single name of a line, which must be known. */
function nameOf({ number, words: all }: Line, words: readonly string[], known: readonly string[]): string {
  const [name] = words;
  if (name !== undefined && words.length === 1 && known.includes(name)) return name;
  const got = name === undefined ? "nothing" : `"${words.join(" ")}"`;
  const expected = known.length === 0 ? "no such node, since none is known" : `one of ${known.join(", ")}`;
  throw refused(number, `${got} after ${all[0]}`, expected, fixFor(name ?? "", known));
}

function lineOf(line: string, number: number): readonly Line[] {
  const content = line.trim();
  const blanks = line.slice(0, line.length - line.trimStart().length);
  if (content === "" || content.startsWith("#")) return [];
  if (/[^ ]/.test(blanks) || blanks.length % 2 !== 0)
    throw refused(
      number,
      /[^ ]/.test(blanks) ? "a tab before the node" : `${blanks.length} blanks before the node`,
      "two blanks for each level",
      "Indent with two blanks.",
    );
  return [{ number, depth: blanks.length / 2, words: content.split(/\s+/) }];
}

const fixFor = (name: string, known: readonly string[]): string => {
  const near = nearest(name, known);
  return near === undefined ? "Write one of these." : `Did you mean ${near}?`;
};

const refused = (line: number, got: string, expected: string, fix: string): WhetstoneError =>
  new WhetstoneError("config.invalid", { where: `behaviour tree, line ${line}`, got, expected, fix });
