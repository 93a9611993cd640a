import assert from "node:assert/strict";
import { test } from "node:test";
import {
  admitted,
  clusterOf,
  type Draft,
  emptyLibrary,
  experienceOf,
  lessonsAt,
  retrieved,
} from "./library.ts";

const draft = (seen: string, text: string, score: number, more: Partial<Draft> = {}): Draft => ({
  kind: "strategy",
  seen,
  text,
  score,
  trajectory: `t ${text}`,
  scope: "",
  ...more,
});
const texts = (lessons: readonly { readonly text: string }[]): readonly string[] =>
  lessons.map((l) => l.text);

test("an observation joins the first cluster of its scope that it is like enough", () => {
  const library = admitted(emptyLibrary, [
    draft("in the hall", "open", 3),
    draft("in the hut", "wait", 2),
    draft("in the hall", "sing", 1, { scope: "opera" }),
  ]);
  const placed = (seen: string, similarity: number, scope = "") =>
    clusterOf(library, scope, seen, { similarity })?.text;
  // "in the ha" of 9 is shared with "in the hall" of 11: 18/20 = 0.9; "in the h" of it with "in the hut" of 10: 16/19
  assert.equal(placed("in the ha", 0.9), "in the hall");
  assert.equal(placed("in the ha", 0.91), undefined);
  // the earlier of two that are like enough, not the more alike: with "in the hu" 8 of 9 and 11, 16/20, and 9 of 9 and 10
  assert.equal(placed("in the hu", 0.8), "in the hall");
  assert.equal(placed("in the hu", 0.85), "in the hut");
  assert.equal(placed("in the hall", 1), "in the hall");
  assert.equal(placed("in the hut", 0.85, "opera"), undefined);
});

test("only the first 500 characters are compared", () => {
  const long = "x".repeat(500);
  const library = admitted(emptyLibrary, [draft(`${long} and a yard`, "dig", 1)]);
  assert.equal(clusterOf(library, "", `${long} and a shed`, { similarity: 1 })?.text, long);
});

test("the best lessons of a place are shown, strategies before warnings, of equals the older", () => {
  const library = admitted(emptyLibrary, [
    draft("here", "rest", 0.2),
    draft("here", "climb", 0.9),
    draft("here", "dig", 0.5),
    draft("here", "jump", 0.5),
    draft("here", "shout", 0, { kind: "warning" }),
    draft("far off", "swim", 1),
  ]);
  const here = clusterOf(library, "", "here")?.id;
  assert.deepEqual(texts(lessonsAt(library, here)), ["climb", "dig", "shout"]);
  assert.deepEqual(texts(lessonsAt(library, here, { strategy: 3, warning: 0 })), ["climb", "dig", "jump"]);
  assert.deepEqual(lessonsAt(library, undefined), []);
});

test("what is known already is not added: it keeps its words and takes the greater score", () => {
  const first = admitted(emptyLibrary, [draft("here", "go north", 0.5)]);
  // "go north" in "go north!": 16/17 = 0.94
  const again = admitted(first, [draft("here", "go north!", 0.8), draft("here", "go north?", 0.3)]);
  assert.deepEqual(
    again.lessons.map(({ text, score, trajectory }) => [text, score, trajectory]),
    [["go north", 0.8, "t go north"]],
  );
  const told = { kind: "warning", scope: "" } as const;
  const beside = admitted(first, [draft("here", "go north", 0.1, told), draft("afar", "go north", 0.1)]);
  assert.equal(beside.lessons.length, 3, "another kind or place is another lesson");
  const apart = admitted(first, [draft("here", "go north!", 0.8)], { alike: 0.95 });
  assert.deepEqual(texts(apart.lessons), ["go north!", "go north"]);
});

test("an admission adds so many of each kind, the best ones, and the library keeps so many", () => {
  const drafts = ["a", "bb", "ccc", "dddd"].map((text, i) => draft(`place ${text}`, text, i));
  const limits = { similarity: 1, added: { strategy: 2, warning: 1 }, kept: { strategy: 3, warning: 1 } };
  const two = admitted(emptyLibrary, drafts, limits);
  assert.deepEqual(texts(two.lessons), ["dddd", "ccc"]);
  const three = admitted(two, drafts, limits);
  assert.deepEqual(texts(three.lessons), ["dddd", "ccc", "bb"], "what is known already takes nobody's place");
  assert.equal(three.made, 4);
});

test("the cluster retrieved least makes room, with its lessons", () => {
  const limits = { similarity: 1, clusters: 2 };
  const both = admitted(emptyLibrary, [draft("a", "sit", 2), draft("b", "run", 1)], limits);
  const a = clusterOf(both, "", "a")!.id;
  const used = retrieved(both, new Map([[a, 3]]), new Map([[both.lessons[0]!.id, 2]]));
  const after = admitted(used, [draft("c", "fly", 1)], limits);
  assert.deepEqual(texts(after.clusters), ["a", "c"]);
  assert.deepEqual(
    after.lessons.map(({ text, shown }) => [text, shown]),
    [
      ["sit", 2],
      ["fly", 0],
    ],
  );
});

test("as an artefact each lesson says where it applies and what it was made from", () => {
  const { entries } = experienceOf(admitted(emptyLibrary, [draft("at the door", "knock", 1)]));
  assert.deepEqual(
    entries.map(({ kind, when, text, origins }) => [kind, when, text, origins.by, origins.trajectories]),
    [["strategy", "at the door", "knock", "rollout", ["t knock"]]],
  );
});
