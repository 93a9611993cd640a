import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Able } from "../../../core/evaluator.ts";
import { randomStream } from "../../../core/random.ts";
import { editedLibrary, type RubricEdit, type RubricLibrary } from "../../../core/rubrics.ts";
import { begun, type EvolutionOptions, evolved } from "../../../memory/rubrics/evolve.ts";
import { accuracyOf, judgedPairs, scoredInBothOrders } from "../../../memory/rubrics/orders.ts";
import { quotes } from "../../../memory/rubrics/quotes.ts";
import { featureJudge, featureProposer } from "./features.ts";

const libraryOf = (...texts: readonly string[]): RubricLibrary => ({
  rubrics: texts.map((text) => ({ id: text, kind: "skill", text })),
});
const adding = (text: string, kind: "skill" | "tool" = "skill"): RubricEdit => ({
  kind: "add",
  rubric: { id: text, kind, text },
});

test("editedLibrary: adds, modifies and deletes; leaves what was there alone; refuses what cannot be", () => {
  const library = libraryOf("a", "b");
  assert.deepEqual(editedLibrary(library, adding("c")), libraryOf("a", "b", "c"));
  assert.deepEqual(editedLibrary(library, { kind: "delete", id: "a" }), libraryOf("b"));
  assert.deepEqual(editedLibrary(library, { kind: "modify", id: "b", text: "x" })?.rubrics[1], {
    id: "b",
    kind: "skill",
    text: "x",
  });
  assert.deepEqual(library, libraryOf("a", "b"));
  assert.equal(editedLibrary(library, adding("a")), undefined);
  assert.equal(editedLibrary(library, { kind: "delete", id: "c" }), undefined);
  assert.equal(editedLibrary(library, { kind: "modify", id: "c", text: "x" }), undefined);
});

/** Items are lists of features, each worth 1. */
const features = (item: readonly string[]): ReadonlyMap<string, number> =>
  new Map(item.map((name) => [name, 1]));

test("scoredInBothOrders: whoever is shown first has no advantage, whatever the judge's habit", async () => {
  await fc.assert(
    fc.asyncProperty(fc.double({ min: -5, max: 5, noNaN: true }), async (bias) => {
      const judge = featureJudge(features, bias)(libraryOf("a"));
      const alike = await scoredInBothOrders(judge, [["a"], ["a"]]);
      assert.ok(Math.abs(alike![0]! - alike![1]!) < 1e-12);
      const [first, second] = (await scoredInBothOrders(judge, [["a"], ["b"]]))!;
      const [b, a] = (await scoredInBothOrders(judge, [["b"], ["a"]]))!;
      assert.ok(first! > second! && first === a && second === b);
    }),
    { seed: 1, numRuns: 50 },
  );
});

/** A judge that gives these scores. */
const judging = (
  say: (shown: readonly string[]) => readonly number[] | undefined,
): Able<"score", string> => ({
  name: "judge",
  score: async (shown) => say(shown)?.map((score) => ({ score })),
});

test("scoredInBothOrders: averages place by place; a judge that fails once, or loses a score, has failed", async () => {
  // shown first 0.9, second 0.5, third 0.1, whoever they are: everyone's mean of both orders is 0.5
  const byPlace = judging((shown) => shown.map((_, i) => [0.9, 0.5, 0.1][i]!));
  assert.deepEqual(await scoredInBothOrders(byPlace, ["x", "y", "z"]), [0.5, 0.5, 0.5]);
  let calls = 0;
  const once = judging((shown) => (calls++ === 0 ? shown.map(() => 1) : undefined));
  assert.equal(await scoredInBothOrders(once, ["x", "y"]), undefined);
  assert.equal(
    await scoredInBothOrders(
      judging(() => [1]),
      ["x", "y"],
    ),
    undefined,
  );
});

test("accuracyOf: a tie is right by half, pairs on which the judge failed count nowhere", async () => {
  const pairs = [
    { better: ["a"], worse: ["b"] },
    { better: ["b"], worse: ["a"] },
    { better: ["c"], worse: ["d"] },
  ];
  const judged = await judgedPairs(featureJudge(features, 1)(libraryOf("a")), pairs);
  assert.deepEqual(
    judged.map(({ lead }) => Math.sign(lead)),
    [1, -1, 0],
  );
  assert.equal(accuracyOf(judged), 0.5);
  const deaf = await judgedPairs<readonly string[]>({ name: "deaf", score: async () => undefined }, pairs);
  assert.deepEqual(deaf, []);
  assert.equal(accuracyOf(deaf), 0);
});

/** Ten pairs that differ in one of these features each, the better one having it. */
const pairsOf = (...names: readonly string[]) =>
  names.map((name) => ({ better: [name], worse: ["nothing"] }));
// a library's accuracy: what it names is right, the rest are ties: 1/2 + share/2
const validation = pairsOf("a", "a", "a", "a", "b", "b", "c", "d", "e", "f");

const options = (
  edits: readonly RubricEdit[],
  more: Partial<EvolutionOptions<readonly string[]>> = {},
): EvolutionOptions<readonly string[]> => ({
  judge: featureJudge(features),
  propose: async () => edits,
  ...more,
});

test("evolved: the gate keeps what falls by less than the margin, restores the rest, and the best stays known", async () => {
  const first = await begun(libraryOf("a", "b"), validation, options([]));
  assert.equal(first.current.accuracy, 0.8); // 4 + 2 of 10 named
  const step = (before: typeof first, edit: RubricEdit, margin: number) =>
    evolved(before, [], validation, options([edit], { margin }), randomStream(1));
  // without b: 0.7, a fall of 0.1
  const kept = await step(first, { kind: "delete", id: "b" }, 0.11);
  assert.deepEqual(kept.current.library, libraryOf("a"));
  assert.ok(Math.abs(kept.current.accuracy - 0.7) < 1e-12);
  assert.equal(kept.best, first.current);
  assert.equal(kept.versions.length, 2);
  const restored = await step(first, { kind: "delete", id: "b" }, 0.075);
  assert.equal(restored.current, first.current);
  assert.equal(restored.versions.length, 1);
  assert.equal(restored.iteration, 1);
  // nothing gained, nothing lost: strict gates keep it, one that must gain does not
  assert.deepEqual((await step(first, adding("x"), 0)).current.library, libraryOf("a", "b", "x"));
  assert.equal((await step(first, adding("x"), -0.025)).current, first.current);
  const better = await step(kept, adding("c"), 0);
  assert.ok(Math.abs(better.current.accuracy - 0.75) < 1e-12);
  assert.equal(better.best, first.current, "what is deployed is the best, not the last");
  const open = await step(first, { kind: "delete", id: "a" }, Number.POSITIVE_INFINITY);
  assert.deepEqual(open.current.library, libraryOf("b"));
});

test("evolved: every P iterations what the judge does as well without is taken out", async () => {
  const first = await begun(libraryOf("x", "a", "y"), validation, options([]));
  const pruned = await evolved(first, [], validation, options([], { prune: 1 }), randomStream(1));
  assert.deepEqual(pruned.current.library, libraryOf("a"));
  const early = await evolved(first, [], validation, options([], { prune: 2 }), randomStream(1));
  assert.equal(early.current, first.current);
});

test("evolved: edits that copy an item, or bring an analyser that does not work, are refused, the others carried out", async () => {
  const long = "a reply that says many words in a row to be copied";
  const train = [{ better: [long], worse: ["nothing"] }];
  const copying = adding("prefer: MANY words, in a row to be");
  const edits = [copying, adding("c"), adding("broken", "tool"), adding("works", "tool")];
  const first = await begun(libraryOf("a"), validation, options([]));
  const after = await evolved(
    first,
    train,
    validation,
    options(edits, { describe: (item) => item.join(" "), smoke: async (prompt) => prompt === "works" }),
    randomStream(1),
  );
  assert.deepEqual(
    after.current.library.rubrics.map(({ id }) => id),
    ["a", "c", "works"],
  );
  assert.equal(after.current.why, "add c; add works");
  const reworded = { kind: "modify", id: "works", text: "no more" } as const;
  const same = await evolved(
    after,
    [],
    validation,
    options([reworded], { smoke: async (prompt) => prompt === "works" }),
    randomStream(1),
  );
  assert.equal(same.current, after.current, "an analyser that is reworded has to work as well");
});

test("quotes: six words in a row, whatever their case and punctuation", () => {
  assert.ok(quotes("It says: one two, THREE four five six!", "zero one two three four five six seven"));
  assert.ok(!quotes("one two three four five", "one two three four five six"));
  assert.ok(!quotes("one two three five four six", "one two three four five six"));
  assert.ok(!quotes("", ""));
});

test("featureProposer: puts in what goes with the errors, takes out what goes against them, else is silent", async () => {
  const propose = featureProposer(features);
  const asked = async (library: RubricLibrary, pairs: ReturnType<typeof pairsOf>) =>
    propose({
      library,
      judged: await judgedPairs(featureJudge(features)(library), pairs),
      random: randomStream(1),
    });
  // wrong are the three pairs that a library of d alone ties: a stands in two of them
  assert.deepEqual(await asked(libraryOf("d"), pairsOf("a", "a", "b", "d")), [adding("a")]);
  const misled = [{ better: ["x"], worse: ["bad"] }];
  assert.deepEqual(await asked(libraryOf("bad", "x", "y"), [...misled]), [{ kind: "delete", id: "bad" }]);
  assert.deepEqual(await asked(libraryOf("a"), pairsOf("a")), []);
});
