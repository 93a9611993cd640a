import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logged } from "../../src/core/served.ts";
import type { Turn } from "../../src/core/types.ts";
import { policySample, versionSample } from "../../src/offpolicy/logged.ts";

const turn = (version: string, behaviour: readonly number[]): Turn => ({
  role: "agent",
  model: "policy",
  version,
  prompt: [],
  action: { role: "assistant", content: "yes" },
  tokens: {
    prompt: new Int32Array(0),
    action: new Int32Array(behaviour.length),
    logp: Float32Array.from(behaviour),
    behaviour: Float32Array.from(behaviour),
  },
  spans: {},
  stop: "eos",
  rewards: {},
  ms: 1,
});
const logged: Logged = {
  trajectory: {
    id: "s/0",
    task: "t",
    episode: "s",
    role: "agent",
    turns: [turn("b", [-1, -2]), turn("a", [-0.5])],
    end: { kind: "done", reason: "logged" },
    origin: "logged",
  },
  session: "s",
  responses: ["r0", "r1"],
  propensities: [0.25, 0.5],
  signals: [{ kind: "score", value: 0.8, channel: "thumbs", about: [], source: "user" }],
  exposures: [],
};
const reward = (): number => 0.8;

test("a session was drawn for once, a response every time", () => {
  assert.deepEqual(versionSample(logged, "b", "session", reward), {
    cluster: "s",
    ratios: [4, 1],
    rewards: [0, 0.8],
  });
  assert.deepEqual(versionSample(logged, "b", "response", reward).ratios, [4, 0]);
  assert.deepEqual(versionSample(logged, "a", "session", reward).ratios, [0, 1]);
  assert.equal(versionSample({ ...logged, user: "ann" }, "a", "user", reward).cluster, "ann");
});

test("a policy's ratios are those of its tokens", () => {
  // exp(−0.5 − 2 + 1 + 2) and exp(−1 + 0.5)
  const { ratios } = policySample(logged, [[-0.5, -2], [-1]], reward);
  assert.ok(Math.abs(ratios[0]! - Math.exp(0.5)) < 1e-6 && Math.abs(ratios[1]! - Math.exp(-0.5)) < 1e-6);
  assert.throws(() => policySample(logged, [[-0.5, -2]], reward), /no target for turn 1/);
  assert.throws(() => policySample(logged, [[-0.5], [-1]], reward), { code: "shape.mismatch" });
});
