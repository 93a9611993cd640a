import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Trajectory } from "../../../core/types.ts";
import { type ClarifyingQuestionsOptions, clarifyingQuestions, moveWorths } from "./clarifyingQuestions.ts";

const values = ["v0", "v1"];
const intent = {
  slots: { place: values, date: values, people: values },
  goal: { place: "v0", date: "v1" },
  missing: ["place", "date"],
};

const talk = (id: string, said: readonly string[], more: Partial<Trajectory> = {}): Trajectory =>
  trajectoryOf(
    id,
    said.map((content) => turnOf([1], [2], { action: { role: "assistant", content } })),
    more,
  );

const worths = (...said: string[]) => moveWorths(talk("t", said).turns, intent);

test("what a turn turned out to be", () => {
  assert.deepEqual(worths("ask place", "ask date", "submit"), ["useful", "useful", "due"]);
  // a slot pays once; what nobody minds, and what is no slot, is asked in vain
  assert.deepEqual(worths("ask place", "ask place", "ask people", "ask me"), [
    "useful",
    "useless",
    "useless",
    "useless",
  ]);
  assert.deepEqual(worths("submit", "ask date and place", "submit"), ["premature", "useful", "due"]);
  assert.deepEqual(worths("", "submit now", "place", "asks place"), new Array(4).fill("unreadable"));
  assert.deepEqual(worths("ask place and people"), ["useful"], "one that is missing is enough");
});

test("what is paid is added up by hand", async () => {
  const paid = async (said: readonly string[], options: ClarifyingQuestionsOptions = {}) => {
    const ctx = ctxOf({ task: (id) => ({ id, prompt: [], metadata: intent, seed: 1 }) });
    const trajectories = [
      talk("t", said),
      talk("f", said, { end: { kind: "failed", boundary: "model", message: "" } }),
    ];
    const signals = await clarifyingQuestions(options)(ctx, { trajectories, units: [] }, {});
    assert.ok(signals.every(({ about, channel }) => about[0]?.trajectory === "t" && channel === "asking"));
    assert.deepEqual(
      signals.map(({ about }) => about[0]?.turn),
      [...said.keys()],
    );
    return signals.map((s) => (s.kind === "reward" ? s.value : Number.NaN));
  };
  assert.deepEqual(
    await paid(["ask place", "ask place", "submit", "hm", "ask date", "submit"]),
    [0.1, -0.2, -0.2, -0.5, 0.1, 0],
  );
  assert.deepEqual(await paid(["ask place", "ask place"], { pay: { useless: 0.1 } }), [0.1, 0.1]);
  const act = (): { kind: "act" } => ({ kind: "act" });
  assert.deepEqual(await paid(["ask place"], { move: act, pay: { premature: -1 } }), [-1]);
});
