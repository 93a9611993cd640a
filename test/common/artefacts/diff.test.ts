import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { artefactDiff, artefactParts } from "../../../src/common/artefacts/diff.ts";
import { writtenBy } from "../../../src/common/artefacts/origins.ts";
import type { Artefact, LibraryEntry } from "../../../src/core/artefact.ts";

const origins = writtenBy("person");
const entry = (id: string, text: string, more: Partial<LibraryEntry> = {}): LibraryEntry => ({
  id,
  kind: "strategy",
  when: "",
  text,
  score: 0.5,
  shown: 0,
  origins,
  ...more,
});
const library = (...entries: readonly LibraryEntry[]): { artefact: Artefact } => ({
  artefact: { kind: "experience", entries },
});
const told = (system: string, tools: Record<string, string> = {}): { artefact: Artefact } => ({
  artefact: { kind: "instructions", system, tools, examples: [], origins },
});

test("a lesson that is new, reworded, scored anew, gone, moved, or there under another id", () => {
  const before = library(
    entry("a", "ask first"),
    entry("b", "be kind"),
    entry("c", "go slowly"),
    entry("d", "wait"),
    entry("e", "smile"),
  );
  const after = library(
    entry("b", "be kind"),
    entry("a", "ask first\nand twice", { kind: "warning" }),
    entry("c", "go slowly", { score: 0.75 }),
    entry("f", "smile"),
    entry("g", "knock", { when: "doors" }),
  );
  const { changes, same } = artefactDiff(before, after);
  assert.equal(same, 2);
  assert.deepEqual(
    changes.map(({ kind, title, lines, score }) => [kind, title, lines.map((l) => l.kind + l.text), score]),
    [
      ["changed", "Strategy → Warning", ["sameask first", "addedand twice"], undefined],
      ["scored", "Strategy", [], { before: 0.5, after: 0.75 }],
      ["added", "Strategy", ["addedWhen: doors", "addedknock"], { after: 0.5 }],
      ["removed", "Strategy", ["removedwait"], { before: 0.5 }],
    ],
  );
});

test("instructions are compared text by text; what is empty is no part", () => {
  const { changes, same } = artefactDiff(
    told("Be brief.", { search: "finds", open: "opens" }),
    told("Be brief.\nBe kind.", { open: "opens" }),
  );
  assert.deepEqual(
    changes.map(({ kind, title }) => `${kind} ${title}`),
    ["changed System message", "removed Tool search"],
  );
  assert.equal(same, 1);
  assert.deepEqual(artefactParts(told("").artefact), []);
});

test("of a case, an example and a guide all that is told is there", () => {
  const messages = [
    { role: "user" as const, content: "Where?" },
    { role: "assistant" as const, content: "", toolCalls: [{ id: "1", name: "look", arguments: "{}" }] },
  ];
  const cases: readonly (readonly [Artefact, readonly string[]])[] = [
    [
      { kind: "cases", cases: [{ id: "x", situation: "rain", plan: "umbrella", success: true, origins }] },
      ["Case that went well: Situation: rain\numbrella"],
    ],
    [
      { kind: "instructions", system: "", tools: {}, examples: [{ id: "x", messages, origins }], origins },
      ["Example: user: Where?\nassistant: \ncalls look {}"],
    ],
    [
      { kind: "guide", policy: "runs/small", frame: "Hint: {hint}" },
      ["Frame of the hint: Hint: {hint}", "Policy that writes the hint: runs/small"],
    ],
    [
      { kind: "rubrics", rubrics: [{ id: "short", kind: "skill", text: "Short is better." }], origins },
      ["Criterion: Short is better."],
    ],
    [
      { kind: "tree", tree: "do rest", facts: ["tired"], skills: ["rest", "run"], idle: "run", origins },
      ["Tree: do rest", "What it may name: Facts: tired\nSkills: rest, run\nElse: run"],
    ],
  ];
  for (const [artefact, said] of cases) {
    assert.deepEqual(
      artefactParts(artefact).map(({ title, text }) => `${title}: ${text}`),
      said,
    );
  }
});

test("nothing changed from a version to itself, and the way back takes out what the way there brought in", () => {
  const entries = fc.uniqueArray(
    fc.record({ id: fc.constantFrom("a", "b", "c", "d"), text: fc.constantFrom("x", "y", "z") }),
    { selector: ({ id }) => id },
  );
  fc.assert(
    fc.property(entries, entries, (a, b) => {
      const [before, after] = [a, b].map((all) => library(...all.map(({ id, text }) => entry(id, text))));
      assert.ok(before && after);
      assert.deepEqual(artefactDiff(before, before), { changes: [], same: a.length });
      const count = (diff: ReturnType<typeof artefactDiff>, kind: string): number =>
        diff.changes.filter((change) => change.kind === kind).length;
      const [there, back] = [artefactDiff(before, after), artefactDiff(after, before)];
      assert.equal(a.length + count(there, "added"), b.length + count(there, "removed"));
      assert.deepEqual(
        [count(there, "added"), count(there, "changed"), there.same],
        [count(back, "removed"), count(back, "changed"), back.same],
      );
    }),
    { seed: 1, numRuns: 200 },
  );
});
