import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Play } from "../../../core/context.ts";
import type { Message, Trajectory } from "../../../core/types.ts";
import { evidenceOf, evidenceReplay, settled } from "./evidenceReplay.ts";

const user = (content: string): Message => ({ role: "user", content });
const said = (content: string): Message => ({ role: "assistant", content });

/** An attempt that was shown these findings, each after an action of its own. */
const searched = (id: string, findings: readonly string[], success: boolean): Trajectory => {
  const turns = [...findings, undefined].map((_, k) =>
    turnOf([1], [2], {
      prompt: [user("q"), ...findings.slice(0, k).flatMap((f, i) => [said(`my thoughts ${i}`), user(f)])],
    }),
  );
  return trajectoryOf(id, turns, { end: { kind: "done", reason: "answered", success } });
};

test("evidence is what was shown after the first action, and none of the agent's own words", () => {
  assert.deepEqual(evidenceOf(searched("t", ["one", "two"], true)), [user("one"), user("two")]);
  assert.deepEqual(evidenceOf(searched("t", [], true)), []);
  assert.deepEqual(evidenceOf(trajectoryOf("t", [])), []);
});

test("q settles what is more than half right", () => {
  assert.deepEqual([0, 0.3, 0.5, 0.51, 1].map(settled), [0, 0.3, 0.5, 1, 1]);
});

const paidFor = async (attempts: readonly Trajectory[], second: boolean, options = {}) => {
  const plays: Play[] = [];
  const ctx = ctxOf({
    play: async (play) => {
      plays.push(play);
      return [searched("again", [], second)];
    },
  });
  const signals = await evidenceReplay(options)(ctx, { trajectories: attempts, units: [] }, {});
  return { plays, values: signals.map((s) => (s.kind === "reward" ? s.value : Number.NaN)) };
};

test("form, a right answer and enough evidence pay 1, ½ and ½; without evidence or a right answer nothing is asked", async () => {
  const right = searched("a", ["one"], true);
  const blind = searched("b", [], true);
  const wrong = searched("c", ["one"], false);
  const cut: Trajectory = {
    ...searched("d", ["one"], false),
    end: { kind: "truncated", limit: "turns", at: 4 },
  };
  const lost: Trajectory = { ...right, id: "e", end: { kind: "failed", boundary: "tool", message: "away" } };
  const { plays, values } = await paidFor([right, blind, wrong, cut, lost], true);
  assert.deepEqual(values, [2, 1.5, 1, 0]);
  assert.equal(plays.length, 1);
  assert.deepEqual(plays[0]!.advice, [user("one")]);
  assert.deepEqual(plays[0]!.limits, { turns: 1 });
  assert.ok(plays[0]!.attempt >= 5, "no attempt of the rollout has its number");
  assert.deepEqual((await paidFor([right], false)).values, [1.5]);
});

test("without the gate evidence pays for a wrong answer as well", async () => {
  const { values } = await paidFor([searched("c", ["one"], false)], true, { gated: false });
  assert.deepEqual(values, [1.5]);
});
