/** Traces of verifiers, read in. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { brought } from "./brought.ts";

const said = (role: string, content: string, more: object = {}) => ({ role, content, ...more });

/** Asks, calls a tool, hears, answers; and from the first question on a second path. */
const trace = {
  version: 1,
  id: "t",
  nodes: [
    {
      parent: null,
      message: said("user", "door?"),
      sampled: false,
      tools: [{ name: "look", description: "looks", parameters: {} }],
    },
    {
      parent: 0,
      message: said("assistant", "", { tool_calls: [{ id: "c", name: "look", arguments: '{"at":"it"}' }] }),
      sampled: true,
    },
    { parent: 1, message: said("tool", "blue", { tool_call_id: "c" }), sampled: false },
    { parent: 2, message: said("assistant", "It is blue."), sampled: true },
    { parent: 0, message: said("assistant", "Which?"), sampled: true },
  ],
  calls: [{ node: 3, model: "m", finish_reason: "length" }],
  rewards: { right: { score: 0.5, weight: 2 }, style: null },
  ok: true,
  errors: [],
};

test("every sampled message is a response to its path; rewards are about the session", async () => {
  const { imported, responses, signals } = await brought("verifiers", trace, {
    ...trace,
    id: "f",
    ok: false,
  });
  assert.deepEqual(imported.ignored, { "trace that failed": 1 });
  // an empty message of the system offers the tools
  assert.deepEqual(
    responses.map(({ id, prompt, choices }) => [
      id,
      prompt.map(({ content }) => content),
      choices[0]!.message.content,
    ]),
    [
      ["verifiers:t/1", ["", "door?"], ""],
      ["verifiers:t/3", ["", "door?", "", "blue"], "It is blue."],
      ["verifiers:t/4", ["", "door?"], "Which?"],
    ],
  );
  const [call, answer, other] = responses;
  assert.deepEqual(call!.choices[0]!.message.toolCalls, [
    { id: "c", name: "look", arguments: '{"at":"it"}' },
  ]);
  assert.deepEqual(
    call!.prompt.flatMap(({ tools = [] }) => tools.map(({ name }) => name)),
    ["look"],
  );
  assert.deepEqual([answer!.model, answer!.choices[0]!.stop], ["m", "length"]);
  // the call and its answer are one trajectory, the other path is one of its own
  assert.deepEqual([answer!.trajectory, answer!.turn], [call!.trajectory, 1]);
  assert.notEqual(other!.trajectory, call!.trajectory);
  // 0.5 · 2
  assert.deepEqual(
    signals.map(({ kind, channel, value, about }) => ({ kind, channel, value, about })),
    [{ kind: "reward", channel: "right", value: 1, about: [{ session: "verifiers:t" }] }],
  );
});

test("an episode brings every agent's trace, as verifiers' own files have them", async () => {
  const episode = { id: "e", task: {}, ok: true, errors: [], traces: [trace, { ...trace, id: "u" }] };
  const { imported, responses } = await brought("verifiers", episode, { ...episode, traces: [] });
  assert.deepEqual(imported.ignored, { "episode without a trace": 1 });
  assert.deepEqual([...new Set(responses.map(({ session }) => session))].sort(), [
    "verifiers:t",
    "verifiers:u",
  ]);
});

test("rewards of replies come back to them, unless somebody scored the trace again", async () => {
  const paid = { ...trace, info: { rewards_by_node: { 1: { right: 0.25 }, 3: { right: 0.75 } } } };
  const heard = async (row: object) =>
    (await brought("verifiers", row)).signals.map(({ about, channel, value }) => [about, channel, value]);
  assert.deepEqual(await heard(paid), [
    [[{ response: "verifiers:t/1" }], "right", 0.25],
    [[{ response: "verifiers:t/3" }], "right", 0.75],
  ]);
  const again = { ...paid, rewards: { right: { score: 3, weight: 1 } } };
  assert.deepEqual(await heard(again), [[[{ session: "verifiers:t" }], "right", 3]]);
});

test("a graph that is none is named by its line", async () => {
  const circle = { ...trace, nodes: [{ parent: 0, message: said("user", "a"), sampled: false }] };
  await assert.rejects(brought("verifiers", trace, circle), /line 2.*node 0 whose parent is 0/s);
  await assert.rejects(brought("verifiers", { ...trace, version: 2 }), /version 2/);
  await assert.rejects(brought("verifiers", { messages: [] }), /no id or no nodes/);
  await assert.rejects(brought("verifiers", trace, { traces: [{ id: "t" }] }), /line 2.*no id or no nodes/s);
});
