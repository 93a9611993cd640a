import assert from "node:assert/strict";
import { test } from "node:test";
import type { Trajectory } from "../../src/core/types.ts";
import { metricsOf } from "../../src/train/metrics.ts";
import { freshState } from "../../src/train/state.ts";

const attempt = (id: string, end: Trajectory["end"]): Trajectory => ({
  id,
  task: "t",
  episode: id,
  role: "agent",
  origin: "sampled",
  turns: [],
  end,
});
const won = { kind: "done", reason: "solved", success: true } as const;
const lost = { kind: "done", reason: "lost", success: false } as const;
const failed = { kind: "failed", boundary: "environment", message: "away" } as const;

test("shares of groups that are always and never solved; failed attempts and lone ones do not count", () => {
  const groups = { a: [won, won, failed], b: [lost, lost], c: [won, lost], d: [lost, lost], e: [won] };
  const trajectories = Object.entries(groups).flatMap(([group, ends]) =>
    ends.map((end, i) => attempt(`${group}${i}`, end)),
  );
  const units = trajectories.map(({ id }) => ({ id, group: id[0]!, members: [id] }));
  const stats = metricsOf(
    {
      experience: { trajectories, units },
      advantages: new Map(),
      stats: {},
      seconds: { rollout: 1, update: 1 },
    },
    freshState("train"),
  );
  assert.deepEqual([stats.solvedGroups, stats.unsolvedGroups], [1 / 4, 2 / 4]);
});
