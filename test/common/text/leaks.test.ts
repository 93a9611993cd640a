import assert from "node:assert/strict";
import { test } from "node:test";
import { writtenBy } from "../../../src/common/artefacts/origins.ts";
import { leakCheck } from "../../../src/common/text/leaks.ts";
import type { InstructionSet } from "../../../src/core/artefact.ts";
import type { Task } from "../../../src/core/types.ts";

const task = (id: string, content: string, reference?: string): Task => ({
  id,
  prompt: [{ role: "user", content }],
  ...(reference === undefined ? {} : { reference }),
  metadata: {},
  seed: 0,
});
const told = (system: string): InstructionSet => ({
  kind: "instructions",
  system,
  tools: {},
  examples: [],
  origins: writtenBy("reflection"),
});
const known = [task("a", "Capital of France?", "Paris"), task("b", "Is it Rome or Oslo?", "yes")];
const heldOut = [
  task("x", "Capital of Belgium?", "Brussels"),
  task("y", "Is the sun a star?", "Yes"),
  task("z", "Which is larger, Lyon or Nice?", "Lyon"),
  task("w", "Norway's capital?", "Oslo"),
  task("long", "one two three four five six seven eight nine", "ninety"),
];
const leaks = leakCheck(heldOut, known);

test("an answer that is held out is found, whatever its case and the marks around it", () => {
  assert.deepEqual(leaks(told('The capital is "brussels".')), [
    { task: "x", part: "system text", what: "answer" },
  ]);
  assert.deepEqual(leaks(told("Brusselssprouts are no city.")), []);
});

test("what trained tasks answer or say, and what stands in its own prompt, gives nothing away", () => {
  assert.deepEqual(leaks(told("Say yes or no. Paris is one. Oslo is another. Lyon is larger.")), []);
});

test("eight words in a row of a prompt are found, seven are not, and shared wording is none", () => {
  assert.deepEqual(leaks(told("It begins one two three four five six seven.")), []);
  assert.deepEqual(leaks(told("If two three four five six seven eight nine, stop.")), [
    { task: "long", part: "system text", what: "prompt" },
  ]);
  const shared = [task("p", "one two three four five six seven eight, and a")];
  assert.deepEqual(leakCheck(heldOut, shared)(told("one two three four five six seven eight")), []);
});

test("an answer that an example hands to a tool is found, however deep, and so is one in Markdown", () => {
  const submit = (given: string) => ({
    ...told(""),
    examples: [
      {
        id: "e",
        messages: [
          {
            role: "assistant" as const,
            content: "",
            toolCalls: [{ id: "c", name: "submit", arguments: given }],
          },
        ],
        origins: writtenBy("bootstrap"),
      },
    ],
  });
  const found = [{ task: "x", part: "e", what: "answer" }];
  assert.deepEqual(leaks(submit('{"answer":"Brussels"}')), found);
  assert.deepEqual(leaks(submit('{"answers":[{"city":"Brussels","sure":true}]}')), found);
  assert.deepEqual(leaks(submit("Brussels")), found, "arguments that are no JSON");
  assert.deepEqual(leaks(submit('{"answer":"Paris"}')), []);
  assert.deepEqual(leaks(told("It is **Brussels**.")), [{ task: "x", part: "system text", what: "answer" }]);
});

test("every part is looked at, and named", () => {
  const origins = writtenBy("reflection");
  const set = {
    ...told(""),
    tools: { search: "Brussels first." },
    examples: [{ id: "e", messages: [{ role: "user" as const, content: "Brussels" }], origins }],
  };
  assert.deepEqual(
    leaks(set).map(({ part }) => part),
    ["description of search", "e"],
  );
  const entry = {
    id: "l",
    kind: "strategy",
    when: "",
    text: "Brussels",
    score: 0,
    shown: 0,
    origins,
  } as const;
  assert.equal(leaks({ kind: "experience", entries: [entry] })[0]?.part, "l");
  const rubric = { id: "r", kind: "skill", text: "Brussels" } as const;
  assert.equal(leaks({ kind: "rubrics", rubrics: [rubric], origins })[0]?.part, "r");
  const names = { facts: [], skills: ["Brussels"], idle: "Brussels", origins };
  assert.equal(leaks({ kind: "tree", tree: "do Brussels", ...names })[0]?.part, "tree");
});
