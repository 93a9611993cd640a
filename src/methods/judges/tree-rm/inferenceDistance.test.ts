import assert from "node:assert/strict";
import { test } from "node:test";
import { type EvidenceEdge, inferenceDistances, meanInferenceDistance } from "./inferenceDistance.ts";

const near = (got: number, want: number): void =>
  assert.ok(Math.abs(got - want) < 1e-9, `${got}, not ${want}`);
const edge = (from: number, to: number, variance: number): EvidenceEdge => ({ from, to, variance });

test("variances add along a path", () => {
  const d = inferenceDistances(3, [edge(0, 1, 1), edge(1, 2, 2)]);
  near(d[0]![2]!, 3);
  near(d[2]![1]!, 2);
  near(d[1]![1]!, 0);
  near(meanInferenceDistance(3, [edge(0, 1, 1), edge(1, 2, 2)]), (1 + 2 + 3) / 3);
  near(meanInferenceDistance(3, [edge(0, 1, 1), edge(1, 2, 2)], 2), 1);
});

test("parallel paths combine as one over the sum of certainties", () => {
  // 0–1 directly with 3, and through 2 with 1 + 2: 1 / (1/3 + 1/3)
  const d = inferenceDistances(3, [edge(0, 1, 3), edge(0, 2, 1), edge(2, 1, 2)]);
  near(d[0]![1]!, 1.5);
  // 0–2: 1 beside 3 + 2
  near(d[0]![2]!, 1 / (1 + 1 / 5));
  // two observations of one pair
  near(inferenceDistances(2, [edge(0, 1, 1), edge(1, 0, 2)])[0]![1]!, 2 / 3);
});

test("a balanced bridge carries nothing; an unbalanced one is solved as a network", () => {
  const arms = [edge(0, 1, 1), edge(0, 2, 1), edge(1, 3, 1), edge(2, 3, 1)];
  near(inferenceDistances(4, [...arms, edge(1, 2, 7)])[0]![3]!, 1);
  // triangle 0–1–2 of 1, 2, 2 becomes a star of 0.4, 0.4, 0.8: d(0, 3) = 0.4 + (0.4 + 1)(0.8 + 1) / (0.4 + 1 + 0.8 + 1)
  const bridge = [edge(0, 1, 1), edge(0, 2, 2), edge(1, 2, 2), edge(1, 3, 1), edge(2, 3, 1)];
  near(inferenceDistances(4, bridge)[0]![3]!, 0.4 + (1.4 * 1.8) / 3.2);
});

test("replies without a path between them are infinitely far apart", () => {
  const d = inferenceDistances(4, [edge(0, 1, 1), edge(3, 2, 2)]);
  near(d[0]![1]!, 1);
  near(d[2]![3]!, 2);
  assert.equal(d[0]![3], Number.POSITIVE_INFINITY);
});
