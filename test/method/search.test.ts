import assert from "node:assert/strict";
import { test } from "node:test";
import { method } from "../../src/method/method.ts";
import { searchCatalogue } from "../../src/method/search.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { reinforce } from "../../src/methods/baseline/reinforce/method.ts";
import { rloo } from "../../src/methods/baseline/rloo/method.ts";
import { catalogue } from "../../src/methods/catalogue.ts";

const judged = method({
  id: "judged",
  family: "test",
  summary: "scores of a judge",
  mechanism: "A rubric tells what a reply is worth.",
  slots: { feedback: [] },
});
const among = [grpo, rloo, reinforce, judged];
const ids = (query: string): string[] => searchCatalogue(query, among).map((m) => m.id);

test("methods are found by name, by words of their paper, by mechanism and by slot", () => {
  assert.equal(ids("rloo")[0], "rloo");
  assert.equal(ids("connectionist")[0], "reinforce");
  assert.equal(ids("rubric")[0], "judged");
  assert.ok(ids("feedback").includes("judged"), "it differs in that slot");
});

test("methods are found by what the words mean, with letters left out or wrong", () => {
  assert.equal(ids("verifier")[0], "judged", "a verifier is akin to a judge");
  assert.equal(ids("leave-one-out")[0], "rloo");
  assert.equal(ids("reinfrce")[0], "reinforce");
  assert.deepEqual(ids("xylophone"), []);
});

test("every method of the catalogue is found by its own id", () => {
  for (const m of catalogue)
    assert.ok(
      searchCatalogue(m.id, catalogue)
        .slice(0, 5)
        .some((f) => f.id === m.id),
      m.id,
    );
});
