import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isWhetstoneError } from "../../../src/core/errors.ts";
import { parseTree } from "../../../src/memory/behaviourTree/parse.ts";
import { type Grammar, type Node, showTree, treeSize } from "../../../src/memory/behaviourTree/tree.ts";

const grammar: Grammar = { facts: ["near", "tired"], skills: ["hit", "walk"], neural: ["aim"] };

const text = `selector
  sequence
    if near
    if not tired
    do hit
  neural aim
  do walk`;

test("parseTree: reads what showTree writes, past comments and empty lines", () => {
  const tree = parseTree(`# a guard\n\n${text.replace("  do walk", "\n  # else\n  do walk")}`, grammar);
  assert.equal(showTree(tree), text);
  assert.equal(treeSize(tree), 7);
  assert.deepEqual(tree, {
    kind: "selector",
    children: [
      {
        kind: "sequence",
        children: [
          { kind: "condition", fact: "near", holds: true },
          { kind: "condition", fact: "tired", holds: false },
          { kind: "action", skill: "hit" },
        ],
      },
      { kind: "neural", name: "aim" },
      { kind: "action", skill: "walk" },
    ],
  });
});

const leaf: fc.Arbitrary<Node> = fc.oneof(
  fc.record(
    {
      kind: fc.constant("condition" as const),
      fact: fc.constantFrom(...grammar.facts),
      holds: fc.boolean(),
    },
    { noNullPrototype: true },
  ),
  fc.record(
    { kind: fc.constant("action" as const), skill: fc.constantFrom(...grammar.skills) },
    { noNullPrototype: true },
  ),
);
const tree = fc.letrec<{ node: Node }>((again) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.record(
      {
        kind: fc.constantFrom("selector" as const, "sequence" as const),
        children: fc.array(again("node"), { minLength: 1, maxLength: 3 }),
      },
      { noNullPrototype: true },
    ),
  ),
})).node;

test("parseTree: is the inverse of showTree for every tree", () => {
  const roomy = { ...grammar, limits: { nodes: 1000, depth: 10 } };
  fc.assert(
    fc.property(tree, (one) => assert.deepEqual(parseTree(showTree(one), roomy), one)),
    { seed: 1, numRuns: 200 },
  );
});

const wrong: readonly (readonly [name: string, text: string, line: number, message: RegExp])[] = [
  ["nothing", "\n# only words\n", 1, /no node/],
  ["an unknown node", "selector\n  seqence\n    do hit", 2, /"seqence".*Did you mean sequence\?/],
  ["an unknown skill", "selector\n  do walk\n  do hitt", 3, /"hitt" after do.*hit, walk.*Did you mean hit\?/],
  ["an unknown fact", "sequence\n  if not neer", 2, /"neer" after if.*Did you mean near\?/],
  ["a fact that is missing", "sequence\n  if not", 2, /nothing after if/],
  ["an unknown neural node", "neural shoot", 1, /"shoot" after neural/],
  ["two names", "do hit walk", 1, /"hit walk" after do/],
  ["words after a selector", "selector now\n  do hit", 1, /"now" after selector/],
  ["a selector without children", "selector\n  sequence\n  do hit", 2, /a sequence without children/],
  ["children of a leaf", "selector\n  do hit\n    do walk", 3, /a child of "do"/],
  ["a second root", "do hit\ndo walk", 2, /a second root/],
  ["a level left out", "selector\n    do hit", 2, /4 blanks.*at most 2 blanks/],
  ["a root that is indented", "  do hit", 1, /2 blanks.*at most 0 blanks/],
  ["an odd indent", "selector\n   do hit", 2, /3 blanks/],
  ["a tab", "selector\n\tdo hit", 2, /a tab/],
  ["too many nodes", `selector\n${"  do hit\n".repeat(25)}`, 26, /node 26.*at most 25 nodes/],
  [
    "too many levels",
    Array.from({ length: 7 }, (_, i) => `${"  ".repeat(i)}${i < 6 ? "selector" : "do hit"}`).join("\n"),
    7,
    /level 7.*at most 6 levels/,
  ],
];
for (const [name, text_, line, message] of wrong) {
  test(`parseTree: refuses ${name}, and says in which line`, () => {
    assert.throws(
      () => parseTree(text_, grammar),
      (e) =>
        isWhetstoneError(e) &&
        e.code === "config.invalid" &&
        e.parts.where === `behaviour tree, line ${line}` &&
        message.test(e.message),
    );
  });
}
