import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logged } from "../../src/core/served.ts";
import type { Signal } from "../../src/core/signal.ts";
import type { TrainingExample } from "../../src/core/trainingExamples.ts";
import type { Trajectory } from "../../src/core/types.ts";
import { recordedFeedback } from "../../src/feedback/recordedFeedback.ts";
import { ctxOf } from "../core/make.ts";

const trajectory: Trajectory = {
  id: "t",
  task: "logged/x",
  episode: "t",
  role: "agent",
  turns: [],
  end: { kind: "done", reason: "logged" },
  origin: "logged",
};
const exposure = (turn: number, channel: string): Logged["exposures"][number] => ({
  id: `t/${turn}/${channel}`,
  about: { trajectory: "t", turn },
  channel,
  at: 0,
});
const up: Signal = {
  kind: "reaction",
  channel: "thumb",
  source: "user",
  about: [{ trajectory: "t", turn: 1 }],
  text: "thumbs_up",
  value: 1,
};
const example: TrainingExample = {
  kind: "conversation",
  id: "t",
  task: { id: "logged/x", prompt: [], metadata: {}, seed: 1 },
  from: { sessions: [], users: [], responses: [], signals: [] },
  logged: {
    trajectory,
    session: "s",
    responses: ["a", "b"],
    propensities: [1, 1],
    signals: [up],
    exposures: [exposure(0, "thumb"), exposure(1, "thumb"), exposure(1, "sale"), exposure(1, "constructor")],
  },
};

const ctx = ctxOf({});
const hear = (options: Parameters<typeof recordedFeedback>[1], trajectories = [trajectory]) =>
  recordedFeedback([example], options)(ctx, { trajectories, units: [] }, {});

test("what was said is handed on as it is, of examples that were replayed", async () => {
  assert.deepEqual(await hear({}), [up]);
  assert.deepEqual(await hear({ channels: ["sale"] }), []);
  assert.deepEqual(await hear({}, []), []);
});

test("silence is worth what was decided, where feedback could have come and did not", async () => {
  const heard = await hear({ silence: { thumb: -0.1 } });
  assert.deepEqual(heard.slice(1), [
    {
      kind: "reward",
      channel: "thumb",
      source: "silence",
      about: [{ trajectory: "t", turn: 0 }],
      value: -0.1,
      exposure: "t/0/thumb",
    },
  ]);
});
