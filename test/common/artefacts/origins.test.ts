import assert from "node:assert/strict";
import { test } from "node:test";
import { joinedOrigins, originsIn, withoutParts, writtenBy } from "../../../src/common/artefacts/origins.ts";
import type { Artefact, InstructionSet, Origins } from "../../../src/core/artefact.ts";

const from = (user: string, signal: string): Origins => ({
  by: "reflection",
  from: { sessions: [], users: [user], responses: [], signals: [signal] },
  trajectories: [`t-${user}`],
});
const of = (user: string) => (origins: Origins) => origins.from.users.includes(user);

test("joined origins name every source once, in order", () => {
  const joined = joinedOrigins("merge", [from("ann", "s1"), from("bob", "s2"), from("ann", "s3")]);
  assert.deepEqual(joined.from.users, ["ann", "bob"]);
  assert.deepEqual(joined.from.signals, ["s1", "s2", "s3"]);
  assert.deepEqual(joined.trajectories, ["t-ann", "t-bob"]);
  assert.equal(joined.by, "merge");
});

test("parts made from somebody's data go, and the others stay as they are", () => {
  const entry = (id: string, origins: Origins) =>
    ({ id, kind: "strategy", when: "", text: id, score: 0, shown: 0, origins }) as const;
  const library = {
    kind: "experience",
    entries: [entry("a", from("ann", "s1")), entry("b", from("bob", "s2"))],
  } as const;
  const { artefact, removed } = withoutParts(library, of("ann"));
  assert.deepEqual(artefact, { kind: "experience", entries: [library.entries[1]] });
  assert.equal(removed, 1);
  assert.deepEqual(withoutParts(library, of("eve")), { artefact: library, removed: 0 });
});

test("a system text made from many things goes whole, and its examples by themselves", () => {
  const example = { id: "e", messages: [], origins: writtenBy("person") };
  const set: InstructionSet = {
    kind: "instructions",
    system: "Ask for the date, as Ann said.",
    tools: { book: "Ann's." },
    examples: [example, { ...example, id: "f", origins: from("ann", "s1") }],
    origins: joinedOrigins("reflection", [from("ann", "s1"), from("bob", "s2")]),
  };
  const { artefact, removed } = withoutParts(set, of("ann"));
  assert.equal(artefact.system, "");
  assert.deepEqual(artefact.tools, {});
  assert.deepEqual(artefact.examples, [example]);
  assert.equal(removed, 2);
  assert.ok(originsIn(set).some(of("ann")));
  assert.ok(!originsIn(artefact).some(of("ann")));
});

test("rubrics and a tree have one origin each, and go whole with it", () => {
  const origins = from("ann", "s1");
  const rubric = { id: "r", kind: "skill", text: "Short." } as const;
  const names = { facts: [], skills: ["rest"], idle: "rest", origins };
  const all: readonly Artefact[] = [
    { kind: "rubrics", rubrics: [rubric, { ...rubric, id: "q" }], origins },
    { kind: "tree", tree: "do rest", ...names },
  ];
  const left = all.map((one) => withoutParts<Artefact>(one, of("ann")));
  assert.deepEqual(
    left.map(({ removed }) => removed),
    [2, 1],
  );
  for (const { artefact } of left) assert.ok(!/Short|do rest|s1/.test(JSON.stringify(artefact)));
  for (const one of all) {
    assert.ok(originsIn(one).some(of("ann")));
    assert.deepEqual(withoutParts<Artefact>(one, of("bob")), { artefact: one, removed: 0 });
  }
});
