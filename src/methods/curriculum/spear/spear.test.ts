import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, evidenceOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Json } from "../../../core/json.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";
import { covarianceColumn, covarianceMask } from "./covarianceMask.ts";
import { recalibrated } from "./recalibrated.ts";
import { falling, rising } from "./schedules.ts";
import { replayGroup, selfImitating } from "./selfImitating.ts";
import { callsOf, toolBonus } from "./toolBonus.ts";
import { toolbox } from "./toolbox.ts";

obeysTheLaws(() => toolbox(), { garbage: 0.1 });

const near = (got: number, want: number): void =>
  assert.ok(Math.abs(got - want) < 1e-6, `${got} for ${want}`);

test("schedules: half a cosine down, and its mirror up", () => {
  assert.deepEqual([falling(0, 80), falling(80, 80), falling(200, 80)], [1, 0, 0]);
  near(falling(40, 80), 0.5);
  near(falling(20, 80), (Math.SQRT1_2 + 1) / 2);
  near(rising(20, 80), 1 - (Math.SQRT1_2 + 1) / 2);
  assert.equal(rising(80, 80), 1);
});

/** An attempt that says these things, and earns this at its end. */
const saying = (id: string, said: readonly string[], outcome: number, more: Partial<Trajectory> = {}) =>
  trajectoryOf(
    id,
    said.map((content, k) =>
      turnOf([1, k], [2, 3], {
        action: { role: "assistant", content },
        rewards: k === said.length - 1 ? { outcome } : {},
      }),
    ),
    more,
  );

test("toolBonus: a tenth for each call, at most 1, and it fades; replayed attempts get none", async () => {
  const calls = (n: number) => [...Array.from({ length: n }, () => "call t1"), "answer a1"];
  const trajectories = [
    saying("two", calls(2), 0),
    saying("many", calls(14), 0),
    saying("none", calls(0), 1),
    saying("old", calls(2), 1, { origin: "replayed" }),
  ];
  assert.equal(callsOf(trajectories[0]!), 2);
  const bonusesAt = async (iteration: number, over: number) => {
    const ctx = ctxOf({ clock: { iteration, phase: "train", step: 0 } });
    const signals = await toolBonus({ over })(ctx, { trajectories, units: [] }, {});
    return signals.map((s) => [s.about[0]!.trajectory, s.kind === "reward" ? s.value : undefined]);
  };
  assert.deepEqual(await bonusesAt(0, 40), [
    ["two", 0.2],
    ["many", 1],
    ["none", 0],
  ]);
  near((await bonusesAt(20, 40))[0]![1] as number, 0.1);
  assert.deepEqual(await bonusesAt(40, 40), []);
  assert.deepEqual((await bonusesAt(999, 0))[0], ["two", 0.2]);
});

/** Plays these groups, by iteration, of attempts (said, outcome). */
async function playing(
  iterations: readonly (readonly (readonly [said: readonly string[], outcome: number])[])[],
  options: Parameters<typeof selfImitating>[1] = {},
) {
  const kept = new Map<string, Json>();
  const out = [];
  for (const [iteration, group] of iterations.entries()) {
    const rollout: Rollout = async () => {
      const trajectories = group.map(([said, outcome], i) => saying(`${iteration}/${i}`, said, outcome));
      return { trajectories, units: trajectories.map(({ id }) => ({ id, group: "task", members: [id] })) };
    };
    const ctx = ctxOf({
      clock: { iteration, phase: "train", step: 0 },
      memory: {
        get: (key) => JSON.parse(JSON.stringify(kept.get(key) ?? null)),
        set: (key, value) => void kept.set(key, value),
      },
    });
    out.push(await selfImitating(rollout, options)(ctx));
  }
  return out;
}
const used = ["call t1", "answer a1"];
const again = ({ units }: Awaited<ReturnType<typeof playing>>[number]) =>
  units.filter(({ group }) => group === replayGroup).map(({ id }) => id.split("/").slice(3).join("/"));

test("selfImitating: better than the group and with a call; all once when full, then the store is empty", async () => {
  const group = [
    [used, 1],
    [["answer a1"], 1],
    [used, 0],
  ] as const;
  // one is stored in each iteration; more than 0.5 · 3 after the second
  const made = await playing([group, group, group], { fill: 0.5 });
  assert.deepEqual(made.map(again), [[], ["0/0", "1/0"], []]);
  assert.deepEqual(
    made.map(({ stats }) => stats?.stored),
    [1, 0, 1],
  );
  const old = made[1]!.trajectories.find(({ origin }) => origin === "replayed")!;
  assert.deepEqual(old.turns[0]!.tokens, turnOf([1, 0], [2, 3]).tokens);
});

test("selfImitating: an attempt of more than the staleness ago is dropped; equal rewards store nothing", async () => {
  const wins = [
    [used, 1],
    [used, 0],
  ] as const;
  const equal = [
    [used, 1],
    [used, 1],
  ] as const;
  const made = await playing([wins, equal, equal], { staleness: 1, fill: 10 });
  assert.deepEqual(
    made.map(({ stats }) => stats?.stored),
    [1, 1, 0],
  );
});

/** Groups of rewards, and replayed attempts with these. */
function evidence(groups: readonly (readonly number[])[], old: readonly number[]) {
  const made = evidenceOf([...groups, old]);
  const g = groups.length;
  const isOld = (id: string): boolean => id.startsWith(`${g}.`);
  return {
    ...made,
    trajectories: made.trajectories.map((t) => (isOld(t.id) ? { ...t, origin: "replayed" as const } : t)),
    units: made.units.map((unit) => (isOld(unit.id) ? { ...unit, group: replayGroup } : unit)),
  };
}

test("recalibrated: new attempts against their group, replayed ones against the median of group means", () => {
  const piece = recalibrated({ over: 0 });
  // means ¼, ½, ¾: the median is ½
  const { advantages, next, stats } = piece.apply(
    evidence(
      [
        [0, 0.5],
        [0.5, 0.5],
        [0.5, 1],
      ],
      [1, 0.5, 0.25],
    ),
    piece.init(),
    undefined,
  );
  near(advantages.get("0.1")![0]!, 0.25);
  near(advantages.get("3.0")![0]!, 0.5);
  assert.equal(advantages.has("3.1"), false, "no better than the median");
  assert.equal(advantages.has("3.2"), false);
  assert.deepEqual(next, { iteration: 1, means: [0.25, 0.5, 0.75] });
  near(stats.staleReplays!, 2 / 3);
  near(stats.deadGroups!, 1 / 3);
});

test("recalibrated: the replay's weight rises; without the median it keeps its reward; the history has an end", () => {
  const given = evidence([[0, 1]], [1]);
  const at = (iteration: number, options: Parameters<typeof recalibrated>[0]) =>
    recalibrated(options).apply(given, { iteration, means: [1, 1] }, undefined);
  assert.equal(at(0, { over: 80, baseline: "none" }).advantages.get("1.0")![0], 0);
  near(at(40, { over: 80, baseline: "none" }).advantages.get("1.0")![0]!, 0.5);
  assert.equal(at(0, { over: 80 }).advantages.has("1.0"), false); // the median of 1, 1, ½ is 1
  assert.deepEqual(at(0, { history: 2 }).next.means, [1, 0.5]);
});

test("recalibrated: the bonus is in the advantage of new attempts, and in no mean of the history", () => {
  const given = evidence([[0, 1]], []);
  const bonus = [{ at: { trajectory: "0.0" }, value: 0.6 }];
  const { advantages, next } = recalibrated().apply(
    { ...given, channels: { ...given.channels, bonus } },
    { iteration: 0, means: [] },
    undefined,
  );
  near(advantages.get("0.0")![0]!, -0.2); // 0.6 − 0.8
  assert.deepEqual(next.means, [0.5]);
});

test("covarianceMask: only tokens between the bounds, and no more than their share", () => {
  const given = evidenceOf([[0, 0]]);
  // log-probabilities −0.1, −0.2 in both; advantages 40 and −40 about their mean: covariances 2, −2, −2, 2
  const soFar = new Map([
    ["0.0", Float32Array.of(40, 40)],
    ["0.1", Float32Array.of(-40, -40)],
  ]);
  const left = (options: Parameters<typeof covarianceMask>[0]) => {
    const { columns } = covarianceMask(options).apply(given, 0, soFar);
    return ["0.0", "0.1"].map((id) => [...columns![covarianceColumn]!.get(id)!]);
  };
  assert.deepEqual(left({ share: 1 }), [
    [0, 1],
    [1, 0],
  ]);
  assert.equal(
    left({ share: 0.25 })
      .flat()
      .filter((x) => x === 0).length,
    1,
  );
  assert.deepEqual(left({ share: 1, low: 3 }).flat(), [1, 1, 1, 1]);
  assert.deepEqual(left({}).flat(), [1, 1, 1, 1]); // 0.0002 of four tokens is none
});
