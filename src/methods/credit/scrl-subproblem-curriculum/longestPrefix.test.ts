import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceOf } from "../../../../test/core/make.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Ref } from "../../../core/types.ts";
import { longestPrefix } from "./longestPrefix.ts";

const rated = (at: Ref, value: number, channel = "step"): Signal => ({
  kind: "reward",
  channel,
  about: [at],
  value,
  source: "test",
});

const credited = (signals: readonly Signal[]) =>
  longestPrefix()({ ...evidenceOf([[undefined, undefined]], () => 4), signals }).step!.map(
    ({ at, value }) => [at.trajectory, at.turn, at.span?.[0], value],
  );

test("an answer counts only after right ones: 1, 1, 0, 1 become 1, 1, 0, 0", () => {
  const got = credited([1, 1, 0, 1].map((value, turn) => rated({ trajectory: "0.0", turn }, value)));
  assert.deepEqual(
    got.map((c) => c[3]),
    [1, 1, 0, 0],
  );
});

test("the order is that of the places, not of the signals; spans of one turn are in order as well", () => {
  const got = credited([
    rated({ trajectory: "0.0", turn: 1 }, 1),
    rated({ trajectory: "0.0", turn: 0, span: [1, 2] }, 0),
    rated({ trajectory: "0.0", turn: 0, span: [0, 1] }, 1),
  ]);
  assert.deepEqual(got, [
    ["0.0", 0, 0, 1],
    ["0.0", 0, 1, 0],
    ["0.0", 1, undefined, 0],
  ]);
});

test("trajectories are apart; other channels and whole trajectories are left out", () => {
  const got = credited([
    rated({ trajectory: "0.0", turn: 0 }, 0),
    rated({ trajectory: "0.1", turn: 0 }, 1),
    rated({ trajectory: "0.1", turn: 1 }, 0, "outcome"),
    rated({ trajectory: "0.1" }, 0),
    rated({ trajectory: "0.1", turn: 2 }, 1),
  ]);
  assert.deepEqual(got, [
    ["0.0", 0, undefined, 0],
    ["0.1", 0, undefined, 1],
    ["0.1", 2, undefined, 1],
  ]);
});

test("without signals the channel is empty", () => {
  assert.deepEqual(credited([]), []);
});
