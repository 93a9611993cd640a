import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { writtenBy } from "../../src/common/artefacts/origins.ts";
import {
  type Artefact,
  artefactId,
  type BehaviourTree,
  type CaseMemory,
  type ExperienceLibrary,
  type InstructionSet,
  type LibraryEntry,
  type RubricSet,
} from "../../src/core/artefact.ts";
import { readArtefactFiles, writeArtefactFiles } from "../../src/store/artefactText.ts";
import { withCode } from "../train/world.ts";

const origins = { ...writtenBy("reflection"), trajectories: ["run/3"] };
const entry: LibraryEntry = {
  id: "ask-first",
  kind: "strategy",
  when: "tickets are asked for\nwithout a date",
  text: "Ask for the date.\n\n# not a heading\n> not a quotation\n\\ not an escape",
  score: 0.5,
  shown: 12,
  origins,
};
const back = (artefact: Artefact): Artefact => readArtefactFiles(artefact.kind, writeArtefactFiles(artefact));

test("what is written reads as it was: instructions", () => {
  const set: InstructionSet = {
    kind: "instructions",
    system: "Be kind.\n\n- and brief",
    instead: true,
    tools: { search: "Finds pages." },
    examples: [
      {
        id: "e",
        messages: [
          { role: "user", content: "Hello" },
          {
            role: "assistant",
            content: "",
            toolCalls: [{ id: "1", name: "search", arguments: '{"q":"x"}' }],
          },
          { role: "tool", content: "Nothing.", toolCallId: "1" },
        ],
        origins,
      },
    ],
    origins,
  };
  assert.deepEqual(back(set), set);
});

test("what is written reads as it was: lessons, cases, guides", () => {
  const library: ExperienceLibrary = {
    kind: "experience",
    entries: [entry, { ...entry, id: "w", kind: "warning", when: "", text: "Do not hurry." }],
  };
  assert.deepEqual(back(library), library);
  const cases: CaseMemory = {
    kind: "cases",
    cases: [{ id: "c", situation: "Two tickets", plan: "Asked.\n\nBooked.", success: false, origins }],
  };
  assert.deepEqual(back(cases), cases);
  const guide = { kind: "guide", policy: "runs/guide", frame: "A hint: {hint}" } as const;
  assert.deepEqual(back(guide), guide);
});

test("what is written reads as it was: rubrics and trees, which need no fence when they are edited", () => {
  const rubrics: RubricSet = {
    kind: "rubrics",
    rubrics: [
      { id: "short", kind: "skill", text: "Short is better.\n\n## Not too short\n> no quotation" },
      { id: "count", kind: "tool", text: "Count the words." },
    ],
    origins,
  };
  assert.deepEqual(back(rubrics), rubrics);
  assert.deepEqual(back({ ...rubrics, rubrics: [] }), { ...rubrics, rubrics: [] });
  const tree: BehaviourTree = {
    kind: "tree",
    tree: "selector\n  sequence\n    if tired\n    do rest\n  do run",
    facts: ["tired"],
    skills: ["rest", "run"],
    idle: "rest",
    origins,
  };
  assert.deepEqual(back(tree), tree);
  const files = writeArtefactFiles(tree);
  assert.deepEqual(readArtefactFiles("tree", { ...files, "tree.md": `\n${tree.tree}\n\n` }), tree);
  const { "tree.json": _, ...bare } = files;
  assert.throws(() => readArtefactFiles("tree", bare), withCode("import.invalid"));
});

test("any text that has no blanks around it survives, and the id with it", () => {
  const line = fc.string({ maxLength: 12 }).map((s) => s.replaceAll("\r", ""));
  const text = fc
    .array(fc.oneof(line, fc.constantFrom("", "## strategy", "> x", "\\", "# a", "`b`")), { maxLength: 6 })
    .map((lines) => lines.join("\n").trim())
    .filter((s) => s !== "");
  fc.assert(
    fc.property(text, fc.oneof(text, fc.constant("")), (told, when) => {
      const library: ExperienceLibrary = { kind: "experience", entries: [{ ...entry, text: told, when }] };
      assert.deepEqual(back(library), library);
      assert.equal(artefactId(back(library)), artefactId(library));
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("a lesson written by hand needs a heading and a text alone", () => {
  const read = readArtefactFiles("experience", {
    "lessons.md": "## warning\r\n\r\n> at night\r\n\r\nSpeak softly.\r\n",
  });
  assert.ok(read.kind === "experience");
  const [one] = read.entries;
  assert.equal(read.entries.length, 1);
  assert.deepEqual(
    { ...one, id: undefined },
    {
      id: undefined,
      kind: "warning",
      when: "at night",
      text: "Speak softly.",
      score: 0,
      shown: 0,
      origins: writtenBy("person"),
    },
  );
  assert.match(one?.id ?? "", /^[0-9a-f]{12}$/);
});

test("what cannot be read is named, with its file and line, and how to fix it", () => {
  const cases: readonly (readonly [
    Parameters<typeof readArtefactFiles>[0],
    Record<string, string>,
    RegExp,
  ])[] = [
    [
      "experience",
      { "lessons.md": "## strategy `a`\n\nx\n\n## hint\n\ny" },
      /lessons\.md, line 5: got "## hint"/,
    ],
    ["experience", { "lessons.md": "Just words" }, /line 1.*heading such as "## strategy"/],
    [
      "experience",
      { "lessons.md": "## strategy `a`\n\nx\n\n## strategy `a`\n\ny" },
      /`a` again.*line 1 has this one/,
    ],
    ["experience", { "lessons.md": "## strategy\n\n> when" }, /a strategy without text/],
    ["experience", { "lessons.md": "## strategy\n\nx", "about.json": "{" }, /about\.json.*Correct the file/],
    ["instructions", { "system.md": "a", "system.instead.md": "b" }, /one of the two/],
    ["instructions", { "tools.json": '{"a":1}' }, /tools\.json: got a: /],
    ["guide", { "frame.md": "no place", "guide.json": '{"policy":"p"}' }, /\{hint\}/],
    ["guide", { "frame.md": "{hint}" }, /guide\.json: got no such file/],
  ];
  for (const [kind, files, message] of cases) {
    const reading = (): Artefact => readArtefactFiles(kind, files);
    assert.throws(reading, withCode("import.invalid"));
    assert.throws(reading, message);
  }
});
