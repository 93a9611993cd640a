import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  ComparePage,
  RunDetail,
  RunRow,
  RunsChange,
  RunsPage,
} from "../../../src/serve/dashboard/types.ts";
import { eventsOf, ran, run, world } from "./world.ts";

test("a listener is told all runs in parts, the newest first, and from then on what changed", async (t) => {
  const { store, request } = await world(t);
  for (let i = 0; i < 60; i++) await store.startRun(run(`run-${String(i).padStart(2, "0")}`));
  const told: RunsChange[] = [];
  for await (const { event, data } of eventsOf<RunsChange>(await request("/api/runs/live"))) {
    assert.equal(event, "runs");
    told.push(data);
    if (told.length === 2) await store.setTags("run-07", ["good"]);
    if (told.length === 3) break;
  }
  const [first, second, third] = told;
  assert.deepEqual([first?.changed.length, second?.changed.length, first?.total], [20, 40, 60]);
  const order = [...(first?.changed ?? []), ...(second?.changed ?? [])].map(({ id }) => id);
  assert.deepEqual(
    order,
    (await store.runs()).map(({ id }) => id),
  );
  assert.deepEqual(
    third?.changed.map(({ id, tags }) => [id, tags]),
    [["run-07", ["good"]]],
  );
  assert.deepEqual([third?.gone, third?.total], [[], 60]);
});

test("a store without runs is said to be empty", async (t) => {
  const { request } = await world(t);
  for await (const { data } of eventsOf<RunsChange>(await request("/api/runs/live"))) {
    assert.deepEqual(data, { changed: [], gone: [], total: 0 });
    break;
  }
});

test("rows carry the last success, held-out success of the test split, and tags", async (t) => {
  const { store, get } = await world(t);
  await ran(store, "a", 3, (k) => k / 4);
  const evaluation = {
    iteration: 3,
    mode: "sampled",
    reward: 1,
    turns: 1,
    tasks: 10,
    failed: 0,
    seconds: 1,
    trainedShare: 0,
  };
  const success = (mean: number) => ({ mean, low: mean - 0.1, high: mean + 0.1, n: 10 });
  await store.saveEvaluation("a", {
    ...evaluation,
    when: "after",
    split: "validation",
    success: success(0.9),
  });
  await store.saveEvaluation("a", { ...evaluation, when: "after", split: "test", success: success(0.5) });
  await store.setTags("a", ["kept"]);
  const { runs } = await get<RunsPage>("/api/runs");
  assert.equal(runs.length, 1);
  const [row] = runs;
  assert.deepEqual([row?.iterations, row?.spark, row?.success?.mean], [3, [0, 0.25, 0.5], 0.5]);
  assert.deepEqual(row?.tags, ["kept"]);
});

test("a run is shown with its settings, metrics and what is off with it", async (t) => {
  const { store, get, refused } = await world(t);
  await store.startRun(run("stuck"));
  for (let k = 0; k < 10; k++) {
    await store.saveIteration("stuck", k, { metrics: { reward: k, truncated: 0.5 }, trajectories: [] });
  }
  const detail = await get<RunDetail>("/api/runs/stuck");
  assert.deepEqual(detail.metrics, ["reward", "truncated"]);
  assert.deepEqual(detail.config, { learningRate: 0.1 });
  assert.deepEqual(
    detail.health.findings.map(({ check, from, until }) => [check, from, until]),
    [["truncated", 5, 10]],
  );
  assert.equal(detail.health.checks.find(({ check }) => check === "reward")?.state, "passed");
  const { status, message } = await refused("/api/runs/nobody");
  assert.equal(status, 404);
  assert.match(message, /no run nobody/);
  // a beginning that the command line would take is no address
  assert.equal((await refused("/api/runs/stu")).status, 404);
});

test("what was found of an environment, why a run failed, and that nothing was held out, is told", async (t) => {
  const { store, get } = await world(t);
  await store.startRun(run("failed"));
  const finding = {
    check: "splits",
    severity: "warning",
    problem: "All are trained on.",
    fix: "Part them.",
  } as const;
  await store.saveFindings("failed", [finding]);
  const evaluation = {
    when: "after",
    iteration: 1,
    split: "test",
    mode: "sampled",
    reward: 1,
    turns: 1,
  } as const;
  const counted = { tasks: 10, failed: 0, seconds: 1, success: { mean: 1, low: 0.7, high: 1, n: 10 } };
  await store.saveEvaluation("failed", { ...evaluation, ...counted, trainedShare: 1 });
  await store.finishRun("failed", "failed", { error: "the server is away" });
  const detail = await get<RunDetail>("/api/runs/failed");
  assert.equal(detail.error, "the server is away");
  assert.equal(detail.success, undefined);
  assert.equal(detail.evaluations[0]?.trainedShare, 1);
  assert.equal(detail.health.findings[0]?.problem, "All are trained on.");
});

test("a run that writes is told to who looks at it", async (t) => {
  const { store, request } = await world(t);
  await ran(store, "a", 1, () => 0.5);
  const seen: number[] = [];
  for await (const { event, data } of eventsOf<RunRow>(await request("/api/runs/a/live"))) {
    assert.equal(event, "run");
    seen.push(data.iterations);
    if (seen.length === 2) break;
    await store.saveIteration("a", 1, { metrics: { success: 1 }, trajectories: [] });
  }
  assert.deepEqual(seen, [1, 2]);
});

test("tags are replaced; what is none is refused with its place", async (t) => {
  const { store, request, refused } = await world(t);
  await store.startRun(run("a"));
  const post = (tags: unknown): RequestInit => ({ method: "POST", body: JSON.stringify({ tags }) });
  assert.equal((await request("/api/runs/a/tags", post([" good ", "seed 1"]))).status, 200);
  assert.deepEqual((await store.tags()).get("a"), ["good", "seed 1"]);
  assert.equal((await refused("/api/runs/a/tags", post([""]))).status, 400);
  assert.equal((await refused("/api/runs/a/tags", post("good"))).status, 400);
  assert.equal((await refused("/api/runs/b/tags", post([]))).status, 404);
  assert.deepEqual((await store.tags()).get("a"), ["good", "seed 1"]);
});

test("runs are compared by environment, method and what computes them, on the seeds that both have", async (t) => {
  const { store, get, refused } = await world(t);
  const after = { when: "after", iteration: 2, split: "test", mode: "sampled" } as const;
  const rest = { reward: 1, turns: 1, tasks: 10, failed: 0, seconds: 1, trainedShare: 0 };
  for (const [method, seed, mean] of [
    ["grpo", 1, 0.2],
    ["grpo", 2, 0.4],
    ["rloo", 1, 0.5],
    ["rloo", 2, 0.6],
    ["rloo", 3, 0.9],
  ] as const) {
    const id = `${method}-${seed}`;
    await store.startRun(run(id, { method, seed }));
    for (const k of [0, 1])
      await store.saveIteration(id, k, { metrics: { success: mean }, trajectories: [] });
    await store.saveEvaluation(id, { ...after, ...rest, success: { mean, low: 0, high: 1, n: 10 } });
  }
  const ids = ["grpo-1", "grpo-2", "rloo-1", "rloo-2", "rloo-3"];
  const { groups } = await get<ComparePage>(`/api/compare?${ids.map((id) => `run=${id}`).join("&")}`);
  assert.deepEqual(
    groups.map(({ method, runs }) => [method, runs.length]),
    [
      ["grpo", 2],
      ["rloo", 3],
    ],
  );
  const [baseline, other] = groups;
  assert.equal(baseline?.against, undefined);
  assert.deepEqual(other?.against?.seeds, [1, 2]);
  // (0.5 - 0.2 + 0.6 - 0.4) / 2, and every run of the second beats every run of the first
  assert.ok(Math.abs((other?.against?.difference.mean ?? 0) - 0.25) < 1e-12);
  assert.equal(other?.against?.improvement, 1);
  assert.ok(Math.abs((baseline?.mean[0] ?? 0) - 0.3) < 1e-12);
  assert.equal((await refused("/api/compare?run=nobody")).status, 404);

  // the same method on a cluster, ahead of learning, is something else beside it
  const cluster = {
    staleness: 1,
    config: { url: "http://10.0.0.1:8000", baseModel: "qwen", settings: { tasks: 3 } },
  };
  await store.startRun(run("cluster-1", { engine: "tinker", config: cluster }));
  await store.saveEvaluation("cluster-1", {
    ...after,
    ...rest,
    success: { mean: 0.5, low: 0, high: 1, n: 10 },
  });
  const beside = await get<ComparePage>("/api/compare?run=grpo-1&run=grpo-2&run=cluster-1");
  assert.deepEqual(
    beside.groups.map(({ method, engine, staleness, runs }) => [method, engine, staleness, runs.length]),
    [
      ["grpo", "tabular", 0, 2],
      ["grpo", "tinker", 1, 1],
    ],
  );
  assert.ok(Math.abs((beside.groups[1]?.against?.difference.mean ?? 0) - 0.3) < 1e-12);
  assert.equal(
    (await get<RunDetail>("/api/runs/cluster-1")).computed,
    "tinker engine, qwen at http://10.0.0.1:8000, rollouts up to 1 iteration ahead of learning",
  );
  assert.equal((await get<RunDetail>("/api/runs/grpo-1")).computed, "tabular engine");
});
