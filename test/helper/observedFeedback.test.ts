import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logged } from "../../src/core/served.ts";
import type { Turn } from "../../src/core/types.ts";
import { crossedWords } from "../../src/helper/crossedWords.ts";
import { observedFeedback } from "../../src/helper/observedFeedback.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";

const exposure = (channel: string) => ({
  id: `t/0/${channel}`,
  about: { trajectory: "t", turn: 0 },
  channel,
  at: 0,
});

/** A reply "b" to "a" on which two channels were open, and what was said on them. */
const served = (signals: Logged["signals"]): Logged => ({
  trajectory: trajectoryOf("t", [
    turnOf([1], [2], {
      prompt: [{ role: "user", content: "a" }],
      action: { role: "assistant", content: "b c" },
    }),
  ]),
  session: "s",
  responses: ["r"],
  propensities: [1],
  signals,
  exposures: [exposure("reaction"), exposure("outcome")],
});
const features = ({ prompt, action }: Turn) => crossedWords(prompt[0]!.content, action.content);
const about = [{ trajectory: "t", turn: 0 }];

test("observedFeedback: one row an exposure; silence is null, the last answer counts, other channels do not", () => {
  const first = {
    kind: "reward",
    channel: "outcome",
    about,
    source: "user",
    exposure: "t/0/outcome",
    value: 0,
  } as const;
  const x = { b: 1, "a → b": 1, c: 1, "a → c": 1 };
  assert.deepEqual(observedFeedback("outcome", [served([])], features), [{ x, y: null, weight: 1 }]);
  assert.deepEqual(observedFeedback("outcome", [served([first])], features), [{ x, y: 0, weight: 1 }]);
  assert.deepEqual(observedFeedback("outcome", [served([first, { ...first, value: 1 }])], features), [
    { x, y: 1, weight: 1 },
  ]);
  assert.deepEqual(observedFeedback("reaction", [served([first])], features), [{ x, y: null, weight: 1 }]);
  assert.deepEqual(observedFeedback("comment", [served([first])], features), []);
});
