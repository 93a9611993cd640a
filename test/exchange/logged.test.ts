import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logged } from "../../src/core/served.ts";
import { logged, spanOf } from "../../src/exchange/logged.ts";
import { assistant, response, served, signal, user } from "./served.ts";

const all = async (...of: Parameters<typeof logged>): Promise<Logged[]> => Array.fromAsync(logged(...of));

const two = [
  response({ id: "r" }),
  response({
    id: "r2",
    turn: 1,
    propensity: 0.25,
    prompt: [user("hello"), assistant("good day"), user("more")],
    choices: [{ message: assistant("that is all"), stop: "length" }],
    channels: ["thumb", "rating"],
  }),
];

test("responses of one trajectory are its turns, with an exposure for every turn and channel", async () => {
  const [one, ...rest] = await all(served(two));
  assert.equal(rest.length, 0);
  assert.deepEqual(one!.responses, ["r", "r2"]);
  assert.deepEqual(one!.propensities, [1, 0.25]);
  assert.equal(one!.user, "u");
  assert.equal(one!.trajectory.origin, "logged");
  assert.deepEqual(
    one!.trajectory.turns.map(({ action, stop, version }) => [action.content, stop, version]),
    [
      ["good day", "eos", "v1"],
      ["that is all", "length", "v1"],
    ],
  );
  assert.deepEqual(
    one!.exposures.map((e) => [e.channel, e.about.turn, e.propensity]),
    [
      ["thumb", 0, 1],
      ["thumb", 1, 0.25],
      ["rating", 1, 0.25],
    ],
  );
});

test("the choice of a turn is the one that the next prompt goes on from, else the first", async () => {
  const choices = ["one", "two"].map((text) => ({ message: assistant(text), stop: "eos" as const }));
  const next = response({
    id: "r2",
    turn: 1,
    prompt: [user("hello"), assistant("two"), user("why")],
    choices,
  });
  const about = [0, 1].map((choice) =>
    signal({ id: `on ${choice}`, kind: "reward", value: choice, about: [{ response: "r", choice }] }),
  );
  const [one] = await all(served([response({ id: "r", choices }), next], about));
  assert.deepEqual(
    one!.trajectory.turns.map((turn) => turn.action.content),
    ["two", "one"],
  );
  // what was said of the reply that was not taken is no feedback on this trajectory
  assert.deepEqual(
    one!.signals.map((s) => (s.kind === "reward" ? s.value : undefined)),
    [1],
  );
});

test("equal first prompts are one task, whoever asked", async () => {
  const other = response({ id: "o", session: "other", user: "w" });
  const different = response({ id: "d", session: "d", prompt: [user("bye")] });
  const [a, b, c] = await all(served([...two, other, different]));
  assert.equal(a!.trajectory.task, b!.trajectory.task);
  assert.notEqual(a!.trajectory.task, c!.trajectory.task);
});

test("targets become places: a response is a turn, a session all its trajectories, another session none", async () => {
  const cut = response({ id: "c", trajectory: "s/1", at: 5000, prompt: [user("new")] });
  const signals = [
    signal({ id: "1", kind: "reaction", text: "thumbs_up", value: 1, about: [{ response: "r2" }] }),
    signal({ id: "2", kind: "score", channel: "nps", value: 9, about: [{ session: "s" }] }),
    signal({ id: "3", kind: "reward", value: 2, about: [{ trajectory: "s/0", turn: 0 }] }),
    signal({ id: "4", kind: "reward", value: 3, about: [{ session: "s", turn: 0 }] }),
  ];
  const [whole, second] = await all(served([...two, cut], signals));
  assert.deepEqual(
    whole!.signals.map((s) => [s.kind, s.about[0], s.exposure]),
    [
      ["reaction", { trajectory: "s/0", turn: 1 }, "s/0/1/thumb"],
      ["score", { trajectory: "s/0" }, undefined],
      ["reward", { trajectory: "s/0", turn: 0 }, "s/0/0/thumb"],
      // a turn of a session with two trajectories could be either's: it is nobody's
    ],
  );
  assert.deepEqual(
    second!.signals.map((s) => s.about),
    [[{ trajectory: "s/1" }]],
  );
});

test("failed answers are no turns; a trajectory without any answer is left out", async () => {
  const failed = response({ id: "f", status: "failed", choices: [], error: "502" });
  const again = response({ id: "again", at: 10 });
  const [one, ...rest] = await all(served([failed, again]));
  assert.deepEqual(one!.responses, ["again"]);
  assert.equal(rest.length, 0);
  assert.deepEqual(await all(served([failed])), []);
});

test("a filter picks trajectories, and each comes whole", async () => {
  const other = response({ id: "o", session: "other", version: "v2" });
  const late = response({ ...two[1]!, id: "late", version: "v2" });
  const found = await all(served([two[0]!, late, other]), { version: "v2" });
  assert.deepEqual(
    found.map((one) => one.responses),
    [["o"], ["r", "late"]],
  );
  assert.deepEqual(await all(served(two), { from: 5000 }), []);
});

test("characters become the tokens that write them, where tokens and text agree", () => {
  const words = ["", "good", " ", "day", "!"];
  const codec = { decode: (ids: Int32Array) => Array.from(ids, (id) => words[id]).join("") };
  const none = new Float32Array(4);
  const tokens = { prompt: Int32Array.of(1), action: Int32Array.of(1, 2, 3, 4), logp: none, behaviour: none };
  const reply = { message: assistant("good day!"), stop: "eos" as const, tokens };
  // "day" is characters 5 to 8, token 2
  assert.deepEqual(spanOf([5, 8], reply, codec), [2, 3]);
  assert.deepEqual(spanOf([3, 6], reply, codec), [0, 3]);
  assert.deepEqual(spanOf([5, 99], reply, codec), [2, 4]);
  assert.equal(spanOf([5, 5], reply, codec), undefined);
  assert.equal(spanOf([20, 30], reply, codec), undefined);
  assert.equal(spanOf([5, 8], { ...reply, message: assistant("good night") }, codec), undefined);
});
