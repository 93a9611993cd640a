import assert from "node:assert/strict";
import { test } from "node:test";
import {
  applyArtefact,
  promptAdditionOf,
  sharedWords,
  situationOf,
  withPromptAddition,
} from "../../../src/common/artefacts/applyArtefact.ts";
import { writtenBy } from "../../../src/common/artefacts/origins.ts";
import type { ExperienceLibrary, InstructionSet, LibraryEntry } from "../../../src/core/artefact.ts";
import type { Message } from "../../../src/core/types.ts";

const origins = writtenBy("person");
const asked: readonly Message[] = [
  { role: "system", content: "You book trains." },
  { role: "user", content: "Two tickets to Ghent, please." },
];
const instructions = (more: Partial<InstructionSet> = {}): InstructionSet => ({
  kind: "instructions",
  system: "Ask for the date.",
  tools: {},
  examples: [],
  origins,
  ...more,
});
const entry = (id: string, when: string, text: string, score = 0): LibraryEntry => ({
  id,
  kind: "strategy",
  when,
  text,
  score,
  shown: 0,
  origins,
});

test("a system text stands after the one that is there, in its place, or alone", () => {
  const [first, ...rest] = applyArtefact(instructions(), asked).messages;
  assert.equal(first?.content, "You book trains.\n\nAsk for the date.");
  assert.deepEqual(rest, asked.slice(1));
  const instead = applyArtefact(instructions({ instead: true }), asked).messages;
  assert.equal(instead[0]?.content, "Ask for the date.");
  const alone = applyArtefact(instructions(), asked.slice(1)).messages;
  assert.deepEqual(alone, [{ role: "system", content: "Ask for the date." }, ...asked.slice(1)]);
});

test("an artefact that says nothing changes nothing", () => {
  assert.deepEqual(applyArtefact(instructions({ system: "" }), asked).messages, asked);
  assert.deepEqual(applyArtefact({ kind: "experience", entries: [] }, asked).messages, asked);
  assert.deepEqual(
    applyArtefact({ kind: "guide", policy: "runs/guide", frame: "Hint: {hint}" }, asked).messages,
    asked,
  );
  // what a judge goes by, and a policy that is a program, are told to nobody
  const rubric = { id: "r", kind: "skill", text: "Short." } as const;
  assert.deepEqual(applyArtefact({ kind: "rubrics", rubrics: [rubric], origins }, asked).messages, asked);
  const names = { facts: [], skills: ["rest"], idle: "rest", origins };
  assert.deepEqual(applyArtefact({ kind: "tree", tree: "do rest", ...names }, asked).messages, asked);
});

test("examples stand between the system message and the rest, and tools are described anew", () => {
  const shown: Message[] = [
    { role: "user", content: "One to Bruges." },
    { role: "assistant", content: "On which day?" },
  ];
  const tools = [{ name: "book", description: "Books.", parameters: { type: "object" } }];
  const offered = asked.map((m) => (m.role === "system" ? { ...m, tools } : m));
  const told = applyArtefact(
    instructions({ examples: [{ id: "e", messages: shown, origins }], tools: { book: "Books seats." } }),
    offered,
  );
  assert.deepEqual(told.messages.slice(1, 3), shown);
  assert.equal(told.messages[0]?.tools?.[0]?.description, "Books seats.");
  assert.deepEqual(told.shown, ["e"]);
});

test("lessons that fit come first, then those with higher scores, within the limits", () => {
  const library: ExperienceLibrary = {
    kind: "experience",
    entries: [
      entry("low", "", "Be brief.", 1),
      entry("high", "", "Be kind.", 2),
      entry("ghent", "tickets go to Ghent", "ask which station.", -1),
    ],
  };
  assert.deepEqual(promptAdditionOf(library, asked).shown, ["ghent", "high", "low"]);
  assert.deepEqual(promptAdditionOf(library, asked, { most: 2 }).shown, ["ghent", "high"]);
  // "When tickets go to Ghent: ask which station." has 44 characters, "Be kind." and "Be brief." 8 and 9
  assert.deepEqual(promptAdditionOf(library, asked, { characters: 43 }).shown, ["high", "low"]);
  assert.deepEqual(promptAdditionOf(library, asked, { characters: 52 }).shown, ["ghent", "high"]);
  assert.match(promptAdditionOf(library, asked).system, /^Learnt before:\n- When tickets go to Ghent: ask/);
});

test("warnings are told as such, and a case that nothing speaks for is not told", () => {
  const warning = { ...entry("w", "the train is full", "do not book."), kind: "warning" } as const;
  const told = promptAdditionOf({ kind: "experience", entries: [warning] }, asked).system;
  assert.match(told, /When the train is full: Beware: do not book\./);
  const cases = [
    { id: "a", situation: "Tickets to Ghent", plan: "Asked the date.", success: true, origins },
    { id: "b", situation: "A hotel", plan: "Looked it up.", success: false, origins },
  ];
  assert.deepEqual(promptAdditionOf({ kind: "cases", cases }, asked).shown, ["a"]);
});

test("a hint stands in its frame as it is, also where it holds signs of patterns", () => {
  const guide = { kind: "guide", policy: "runs/guide", frame: "Hint: {hint}" } as const;
  const told = promptAdditionOf(guide, asked, { hint: "$& costs $1" });
  assert.equal(told.system, "Hint: $& costs $1");
  assert.equal(withPromptAddition(asked, told)[0]?.content, "You book trains.\n\nHint: $& costs $1");
});

test("words are shared whatever their case, and short ones do not count", () => {
  // of {tickets, ghent} both, of {hotel, ghent} one, of {} none
  assert.deepEqual(
    sharedWords("Tickets to GHENT!", ["ghent tickets", "a hotel in Ghent", "to"]),
    [1, 0.5, 0],
  );
});

test("a conversation is about what was said last that is not the model's own", () => {
  const later: readonly Message[] = [...asked, { role: "assistant", content: "When?" }];
  assert.equal(situationOf(later), "Two tickets to Ghent, please.");
  assert.equal(situationOf([]), "");
});
