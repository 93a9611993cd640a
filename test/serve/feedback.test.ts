import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds, type ReadFeedback, readFeedback } from "../../src/serve/feedback.ts";

const arrival = { now: Date.parse("2026-11-21T12:00:00Z") };
const read = (sent: unknown, key?: string): ReadFeedback =>
  readFeedback(sent, key === undefined ? arrival : { ...arrival, key });
function one(sent: unknown, key?: string) {
  const feedback = read(sent, key);
  assert.ok("signals" in feedback, JSON.stringify(feedback));
  const [signal] = feedback.signals;
  assert.ok(signal);
  const { id, received, ...rest } = signal;
  assert.match(id, /^sig_/);
  assert.equal(received, arrival.now);
  return rest;
}
function wrong(sent: unknown): string[] {
  const feedback = read(sent);
  assert.ok("wrong" in feedback, JSON.stringify(feedback));
  return feedback.wrong.map(({ path, message }) => `${path}: ${message}`);
}

const usual = { source: "user", at: arrival.now, tags: {} };
const about = [{ response: "r1" }];
const response = "r1";

test("each kind becomes the signal that learning reads", () => {
  assert.deepEqual(one({ kind: "reaction", response, reaction: "thumbs_up" }), {
    kind: "reaction",
    channel: "reaction",
    about,
    text: "thumbs_up",
    value: 1,
    ...usual,
  });
  assert.equal(one({ kind: "reaction", response, reaction: "thumbs_down" }).value, 0);
  // no number is made up for a reaction that has none, also where objects have a member of its name
  for (const reaction of ["copied", "constructor"]) {
    assert.ok(!("value" in one({ kind: "reaction", response, reaction })), reaction);
  }
  // 4 of 1..5 lies at (4 − 1) / (5 − 1)
  const rating = one({ kind: "rating", response, value: 4 });
  assert.equal(rating.value, 0.75);
  assert.deepEqual(rating.tags, { rating: "4", scale: "1..5" });
  assert.equal(rating.kind, "score");
  assert.equal(one({ kind: "rating", response, value: 2, scale: [-3, 7] }).value, 0.5);
  assert.deepEqual(one({ kind: "comment", response, text: "too long" }), {
    kind: "critique",
    channel: "comment",
    about,
    text: "too long",
    ...usual,
  });
  const corrected = one({ kind: "correction", response, characters: [0, 2], text: "Hello" });
  assert.deepEqual(corrected.about, [{ response, characters: [0, 2] }]);
  assert.equal(one({ kind: "outcome", session: "s", value: true }).value, 1);
  assert.equal(one({ kind: "outcome", session: "s", value: 12.5 }).kind, "reward");
  assert.equal(one({ kind: "score", trajectory: "s/0", turn: 2, value: -1 }).kind, "score");
  assert.equal(one({ kind: "demonstration", response, text: "x" }).kind, "demonstration");
  const preference = one({ kind: "preference", among: [{ response: "a" }, { response: "b" }], best: 1 });
  assert.deepEqual([preference.about, preference.best], [[{ response: "a" }, { response: "b" }], 1]);
  assert.equal(kinds.length, 9);
});

test("who, when and by what key it was given", () => {
  const at = "2026-11-01T09:30:00+01:00";
  const sent = {
    kind: "reaction",
    response,
    reaction: "thumbs_up",
    source: "reviewer:ann",
    user: "u1",
    channel: "tone",
    at,
    tags: { page: "/help" },
  };
  const signal = one(sent, "k");
  assert.equal(signal.at, Date.parse("2026-11-01T08:30:00Z"));
  assert.deepEqual(
    [signal.source, signal.user, signal.channel, signal.tags, signal.key],
    ["reviewer:ann", "u1", "tone", { page: "/help" }, "k"],
  );
  assert.equal(one({ ...sent, key: "own" }, "k").key, "own");
  const list = read([sent, { ...sent, key: "own" }], "k");
  assert.ok("signals" in list);
  assert.deepEqual(
    list.signals.map((s) => s.key),
    ["k/0", "own"],
  );
});

test("every wrong field is named, in a list with its place", () => {
  assert.deepEqual(wrong({ kind: "reaction", reaction: "thumbs_up" }), [
    "response: expected a target: a response, a session or a trajectory",
  ]);
  assert.match(wrong({ kind: "like", response })[0] ?? "", /^kind: expected one of reaction, rating/);
  const many = wrong([
    { kind: "rating", response, value: 9 },
    { kind: "correction", response, text: "", colour: "red" },
  ]);
  assert.match(many[0] ?? "", /^0\.value: expected a number from 1 to 5/);
  assert.deepEqual(
    many.slice(1).map((m) => m.split(":")[0]),
    ["1.text", "1.colour"],
  );
  assert.match(wrong({ kind: "comment", session: "s", turn: 1, text: "x" })[0] ?? "", /^turn: expected traj/);
  assert.match(wrong({ kind: "comment", response, characters: [3, 3], text: "x" })[0] ?? "", /half-open/);
  assert.match(wrong({ kind: "preference", among: [{ response }], best: 0 })[0] ?? "", /^among: /);
  assert.match(
    wrong({ kind: "preference", among: [{ response }, { response: "b" }], best: 2 })[0] ?? "",
    /^best: expected an index of what was compared: 0 to 1/,
  );
  assert.match(wrong({ kind: "comment", response: "a\u0000b", text: "x" })[0] ?? "", /control characters/);
  assert.match(wrong({ kind: "comment", response, text: "x\u0000" })[0] ?? "", /null characters/);
  assert.match(wrong({ kind: "comment", response, text: "x", at: arrival.now + 2e8 })[0] ?? "", /future/);
  assert.match(wrong({ kind: "score", response, value: null })[0] ?? "", /^value: /);
});

test("a list has 1 to 1,000 signals, and no answer is longer than needed", () => {
  const signal = { kind: "reaction", response, reaction: "thumbs_up" };
  const most = read(Array.from({ length: 1000 }, () => signal));
  assert.ok("signals" in most && most.signals.length === 1000);
  assert.match(wrong([])[0] ?? "", /1 to 1000 signals, got 0/);
  assert.match(wrong(Array.from({ length: 1001 }, () => signal))[0] ?? "", /got 1001/);
  assert.equal(wrong(Array.from({ length: 1000 }, () => null)).length, 50);
  for (const sent of [null, 1, "x", true, [[]], {}, [null]]) assert.ok(wrong(sent).length > 0);
});
