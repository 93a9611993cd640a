import assert from "node:assert/strict";
import { test } from "node:test";
import { sayHint } from "../../src/common/text/hints.ts";
import { type ArtefactExample, artefactExamplesFrom } from "../../src/exchange/artefactExamples.ts";
import { assistant, response, served, signal, user } from "./served.ts";

const taught = (signals: Parameters<typeof served>[1]): Promise<ArtefactExample[]> =>
  Array.fromAsync(artefactExamplesFrom(served([response({ id: "r" })], signals)));
const from = (id: string) => ({ sessions: ["s"], users: ["reviewer", "u"], responses: ["r"], signals: [id] });

test("a correction is an example, a example and a hint, and each names the signal that it came from", async () => {
  const made = await taught([
    signal({ id: "c", kind: "correction", text: "Good evening.", user: "reviewer" }),
  ]);
  assert.deepEqual(
    made.map(({ kind }) => kind),
    ["entry", "hint", "example"],
  );
  for (const one of made) {
    const { origins } = one.kind === "example" ? one.example : one.kind === "entry" ? one.entry : one.hint;
    assert.deepEqual(origins.from, from("c"));
    assert.equal(origins.by, "correction");
    if (one.kind === "example")
      assert.deepEqual(one.example.messages, [user("hello"), assistant("Good evening.")]);
    if (one.kind === "entry") {
      assert.equal(one.entry.when, "hello");
      assert.equal(one.entry.text, 'rather than "good day" write "Good evening."');
    }
    if (one.kind === "hint")
      assert.equal(sayHint(one.hint), "user: hello\nagent: good day\nThe right reply: Good evening.");
  }
});

test("reactions and comments are hints", async () => {
  const made = await taught([
    signal({ id: "v", kind: "reaction", text: "thumbs_down", value: 0, user: "reviewer" }),
    signal({ id: "k", kind: "critique", text: "Too stiff.", user: "reviewer" }),
  ]);
  const hints = made.flatMap((one) => (one.kind === "hint" ? [one.hint] : []));
  assert.equal(hints.length, made.length);
  assert.deepEqual(
    hints.map(({ kind, said, origins }) => [kind, said, origins.from.signals]),
    [
      ["reaction", "bad", ["v"]],
      ["comment", "Too stiff.", ["k"]],
    ],
  );
  assert.deepEqual(hints[1]?.origins.from, from("k"));
});

test("what corrects nothing, and a comment without words, teach nothing", async () => {
  const made = await taught([
    signal({ id: "same", kind: "correction", text: "Good day." }),
    signal({ id: "empty", kind: "critique", text: "  " }),
  ]);
  assert.deepEqual(made, []);
});
