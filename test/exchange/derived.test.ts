import assert from "node:assert/strict";
import { test } from "node:test";
import type { TrainingExample, TrainingExampleKind } from "../../src/core/trainingExamples.ts";
import { signalsOf, trajectoriesOf } from "../../src/core/trainingExamples.ts";
import {
  type Dropped,
  type ExampleFilter,
  examplesOfSignal,
  folded,
  trainingExamplesFrom,
} from "../../src/exchange/derived.ts";
import { assistant, response, served, signal, user } from "./served.ts";

type Served = Parameters<typeof served>;
async function derive(responses: Served[0], signals: Served[1], filter: ExampleFilter = {}) {
  const all = await Array.fromAsync(trainingExamplesFrom(served(responses, signals), filter));
  const of = <K extends TrainingExampleKind>(kind: K) =>
    all.filter((made): made is Extract<TrainingExample, { kind: K }> => made.kind === kind);
  const dropped = all.filter((made): made is Dropped => made.kind === "dropped");
  return { all, of, dropped: dropped.map(({ signal: id, why }) => [id, why]) };
}

test("a correction is a pair and a demonstration, which name what they came from", async () => {
  const { of } = await derive(
    [response({ id: "r" })],
    [signal({ id: "c", kind: "correction", text: "Good evening.", user: "reviewer" })],
  );
  const [pair] = of("pair");
  assert.deepEqual(pair!.chosen.turns[0]!.action, assistant("Good evening."));
  assert.deepEqual(pair!.rejected.turns[0]!.action, assistant("good day"));
  assert.deepEqual(pair!.task.prompt, [user("hello")]);
  assert.equal(pair!.chosen.origin, "demonstrated");
  assert.equal(pair!.rejected.origin, "logged");
  assert.deepEqual(pair!.from, {
    sessions: ["s"],
    users: ["reviewer", "u"],
    responses: ["r"],
    signals: ["c"],
  });
  const [shown] = of("demonstration");
  assert.deepEqual(shown!.shown.turns[0]!.action, assistant("Good evening."));
  assert.deepEqual(shown!.from, pair!.from);
  assert.equal(of("conversation").length, 1);
});

test("with characters, a correction stands in their place", async () => {
  const { of } = await derive(
    [response({ id: "r" })],
    [signal({ id: "c", kind: "correction", text: "night", about: [{ response: "r", characters: [5, 8] }] })],
  );
  assert.equal(of("pair")[0]!.chosen.turns[0]!.action.content, "good night");
});

test("corrections of blanks, case and punctuation are dropped and counted; those of a number are not", async () => {
  const corrections = (text: string, to: readonly string[]) =>
    derive(
      [response({ id: "r", choices: [{ message: assistant(text), stop: "eos" }] })],
      to.map((correction, i) => signal({ id: `${i}`, kind: "correction", text: correction })),
    );
  const same = await corrections("Good day.", ["good  day", "Good day!\n", "Good day."]);
  assert.deepEqual(same.dropped, [
    ["0", "same"],
    ["1", "same"],
    ["2", "same"],
  ]);
  const numbers = await corrections("It is 1.5", ["It is 15", "It is -1.5"]);
  assert.equal(numbers.of("pair").length, 2);
  assert.notEqual(folded("at 10:30"), folded("at 1030"));
});

test("equal examples are one, whoever taught them", async () => {
  const again = response({ id: "r2", session: "t", user: "w" });
  const { of, dropped } = await derive(
    [response({ id: "r" }), again],
    [
      signal({ id: "1", kind: "correction", text: "hi" }),
      signal({ id: "2", kind: "correction", text: "hi", about: [{ response: "r2" }] }),
    ],
  );
  assert.equal(of("pair").length, 1);
  assert.deepEqual(of("pair")[0]!.from.signals, ["1"]);
  assert.deepEqual(dropped, [
    ["2", "duplicate"],
    ["2", "duplicate"],
  ]);
});

test("a preference is a pair of the best with each other reply to the same prompt, across sessions too", async () => {
  const choices = ["a", "b", "c"].map((text) => ({ message: assistant(text), stop: "eos" as const }));
  const about = [0, 1, 2].map((choice) => ({ response: "r", choice }));
  const other = response({ id: "o", session: "t", choices: [{ message: assistant("d"), stop: "eos" }] });
  const different = response({ id: "x", session: "x", prompt: [user("bye")] });
  const { of, dropped } = await derive(
    [response({ id: "r", choices }), other, different],
    [
      signal({ id: "1", kind: "preference", about, best: 1, value: 0.75 }),
      signal({ id: "2", kind: "preference", about: [{ response: "o" }, { response: "r" }], best: 0 }),
      signal({ id: "3", kind: "preference", about: [{ response: "x" }, { response: "r" }], best: 0 }),
    ],
  );
  const texts = of("pair").map(({ chosen, rejected, strength }) => [
    chosen.turns[0]!.action.content,
    rejected.turns[0]!.action.content,
    strength,
  ]);
  assert.deepEqual(texts, [
    ["b", "a", 0.75],
    ["b", "c", 0.75],
    ["d", "a", 1],
  ]);
  assert.deepEqual(of("pair")[2]!.from.sessions, ["t", "s"]);
  assert.deepEqual(dropped, [["3", "otherPrompt"]]);
});

test("a reaction or a rating is a rating; the last word counts, and the middle of a scale says nothing", async () => {
  const thumb = { kind: "reaction", text: "thumb", user: "u" } as const;
  const rating = { kind: "score", channel: "rating", tags: { scale: "1..5" }, source: "star" } as const;
  const { of, dropped } = await derive(
    [response({ id: "r" })],
    [
      signal({ id: "up", ...thumb, value: 1, at: 1 }),
      signal({ id: "down", ...thumb, value: 0, at: 2 }),
      signal({ id: "four", ...rating, value: 0.75 }),
      signal({ id: "three", ...rating, value: 0.5, source: "b" }),
      signal({ id: "raw", kind: "score", value: 17 }),
    ],
  );
  assert.deepEqual(
    of("rating").map(({ good, from }) => [good, from.signals[0]]),
    [
      [false, "down"],
      [true, "four"],
    ],
  );
  assert.deepEqual(dropped, [["up", "overruled"]]);
});

test("feedback on a session teaches about its only reply, and about none where there are several", async () => {
  const thumb = signal({ id: "1", kind: "reaction", text: "up", value: 1, about: [{ session: "s" }] });
  const one = await derive([response({ id: "r" })], [thumb]);
  assert.equal(one.of("rating").length, 1);
  const next = response({ id: "n", turn: 1, prompt: [user("hello"), assistant("good day"), user("and")] });
  const two = await derive([response({ id: "r" }), next], [thumb]);
  assert.deepEqual(two.dropped, [["1", "noReply"]]);
  // it is still heard, for the conversation as a whole
  assert.equal(two.of("conversation")[0]!.logged.signals.length, 1);
});

test("filters: only what fits teaches, and only by the channel asked for", async () => {
  const v2 = response({ id: "r2", session: "t", version: "v2" });
  const signals = [
    signal({ id: "1", kind: "correction", text: "hi" }),
    signal({ id: "2", kind: "correction", text: "ho", about: [{ response: "r2" }] }),
    signal({
      id: "3",
      kind: "reaction",
      channel: "stars",
      text: "up",
      value: 1,
      about: [{ response: "r2" }],
    }),
  ];
  const found = await derive([response({ id: "r" }), v2], signals, { version: "v2", channel: "stars" });
  assert.deepEqual(
    found.all.map(({ kind }) => kind),
    ["conversation", "rating"],
  );
});

test("a example as trajectories and signals", async () => {
  const { of } = await derive(
    [response({ id: "r" })],
    [
      signal({ id: "c", kind: "correction", text: "hi" }),
      signal({ id: "t", kind: "reaction", text: "down", value: 0 }),
    ],
  );
  const [pair] = of("pair");
  const [chosen, rejected] = trajectoriesOf(pair!);
  assert.deepEqual(signalsOf(pair!), [
    {
      kind: "preference",
      channel: "thumb",
      source: "user",
      about: [{ trajectory: chosen!.id }, { trajectory: rejected!.id }],
      best: 0,
      value: 1,
    },
  ]);
  const [verdict] = of("rating");
  assert.deepEqual(
    signalsOf(verdict!).map((s) => s.kind === "reward" && s.value),
    [0],
  );
});

const review = (id: string, of: string, text: string, received: number) =>
  signal({
    id,
    kind: "reaction",
    channel: "review",
    text,
    received,
    source: "reviewer",
    tags: { signal: of },
  });

test("a review is no feedback, and of what its last review rejects nothing is made", async () => {
  const { all, of, dropped } = await derive(
    [response({ id: "r" })],
    [
      signal({ id: "wrong", kind: "correction", text: "Good evening." }),
      signal({ id: "shown", kind: "demonstration", text: "Good night." }),
      signal({ id: "again", kind: "correction", text: "Good morning." }),
      signal({ id: "liked", kind: "reaction", text: "thumbs_up", value: 1 }),
      review("1", "wrong", "rejected", 9001),
      review("2", "shown", "rejected", 9002),
      review("3", "again", "rejected", 9003),
      review("4", "again", "accepted", 9004),
      // a reaction is no example that could be taken back, and a value makes no review a rating
      { ...review("5", "liked", "rejected", 9005), value: 0 },
    ],
  );
  assert.deepEqual(dropped, [
    ["wrong", "rejected"],
    ["shown", "rejected"],
  ]);
  assert.deepEqual(
    of("pair").map(({ from }) => from.signals),
    [["again"]],
  );
  assert.deepEqual(
    of("rating").map(({ good, from }) => [good, from.signals]),
    [[true, ["liked"]]],
  );
  const [conversation] = of("conversation");
  assert.deepEqual(conversation!.from.signals, ["again", "liked"]);
  assert.deepEqual(
    conversation!.logged.signals.map(({ kind }) => kind),
    ["correction", "reaction"],
  );
  // two dropped, a pair with its demonstration, a rating and the conversation
  assert.equal(all.length, 2 + 2 + 1 + 1);
});

test("what users say on a channel of theirs that is called review is feedback", async () => {
  const { of } = await derive(
    [response({ id: "r", channels: ["review"] })],
    [signal({ id: "own", kind: "reaction", channel: "review", value: 0 })],
  );
  assert.deepEqual(
    of("rating").map(({ good }) => good),
    [false],
  );
});

test("one signal by itself becomes what it becomes among all", async () => {
  const responses = [response({ id: "r" }), response({ id: "o", session: "t" })];
  const signals = [
    signal({ id: "c", kind: "correction", text: "night", about: [{ response: "r", characters: [5, 8] }] }),
    signal({ id: "d", kind: "demonstration", text: "hi", about: [{ response: "o" }] }),
    signal({ id: "e", kind: "correction", text: "Good day!" }),
    signal({ id: "f", kind: "correction", text: "no", about: [{ response: "gone" }] }),
    signal({ id: "g", kind: "correction", text: "hey" }),
    signal({ id: "h", kind: "critique", text: "well" }),
    review("v", "g", "rejected", 9001),
  ];
  const { all } = await derive(responses, signals);
  const from = (id: string) =>
    all.filter((made) =>
      made.kind === "dropped"
        ? made.signal === id
        : made.kind !== "conversation" && made.from.signals.includes(id),
    );
  const alone = (id: string) =>
    examplesOfSignal(served(responses, signals), signals.find((s) => s.id === id)!);
  for (const id of ["c", "d", "e", "g", "h"]) assert.deepEqual(await alone(id), from(id), id);
  assert.deepEqual(
    (await alone("c")).map(({ kind }) => kind),
    ["pair", "demonstration"],
  );
  assert.deepEqual(await alone("f"), [{ kind: "dropped", signal: "f", why: "noReply" }]);
});
