import assert from "node:assert/strict";
import { test } from "node:test";
import { writtenBy } from "../../src/common/artefacts/origins.ts";
import { artefactId, type InstructionSet } from "../../src/core/artefact.ts";

const instructions: InstructionSet = {
  kind: "instructions",
  system: "Answer in one word.",
  tools: { search: "Finds pages.", open: "Opens one." },
  examples: [],
  origins: writtenBy("person"),
};

test("equal content has one id, whatever the order of its keys", () => {
  const other: InstructionSet = {
    origins: writtenBy("person"),
    examples: [],
    tools: { open: "Opens one.", search: "Finds pages." },
    system: "Answer in one word.",
    kind: "instructions",
  };
  assert.equal(artefactId(other), artefactId(instructions));
  assert.match(artefactId(instructions), /^[0-9a-f]{16}$/);
});

test("any change of content changes the id", () => {
  const id = artefactId(instructions);
  assert.notEqual(artefactId({ ...instructions, system: "Answer in two words." }), id);
  assert.notEqual(artefactId({ ...instructions, tools: { search: "Finds pages." } }), id);
});
