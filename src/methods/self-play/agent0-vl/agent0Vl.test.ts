import assert from "node:assert/strict";
import { test } from "node:test";
import { turnOf } from "../../../../test/core/make.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { calculator } from "./calculator.ts";
import { agent0Vl, verified } from "./method.ts";
import { processReward, readVerdict } from "./rewards.ts";
import { adder, slips, slipsReader } from "./slips.ts";
import type { SolverVerifierOptions } from "./solverVerifier.ts";

test("readVerdict: one word of each pair, or no verdict", () => {
  const of = (text: string) => Object.values(readVerdict(text));
  assert.deepEqual(of("RIGHT , SURE"), [1, 1]);
  assert.deepEqual(of("WRONG UNSURE"), [-1, 0.5]);
  for (const text of ["", "RIGHT", "RIGHT WRONG SURE", "SURE UNSURE RIGHT", "right sure"])
    assert.deepEqual(of(text), [0, 0], text);
});

test("processReward: λ r(tool) + score · conf − β D", () => {
  const weights = { toolReward: 0.3, divergence: 0.05 };
  const of = (score: number, confidence: number, agrees?: boolean, nats = 0) =>
    processReward({ score, confidence, tool: agrees === undefined ? undefined : { agrees }, nats }, weights);
  assert.equal(of(1, 1), 1);
  assert.equal(of(-1, 0.5), -0.5);
  // 0.3 + 1; praise against the tool −0.3 + 1; an honest complaint 0.3 − 1
  assert.ok(Math.abs(of(1, 1, true) - 1.3) < 1e-12);
  assert.ok(Math.abs(of(1, 1, false) - 0.7) < 1e-12);
  assert.ok(Math.abs(of(-1, 1, false) + 0.7) < 1e-12);
  assert.ok(Math.abs(of(1, 1, true, 2) - 1.2) < 1e-12);
  // no verdict does not say what the tool says
  assert.ok(Math.abs(of(0, 0, true) + 0.3) < 1e-12);
});

test("calculator: the first wrong equation, else the last; nothing without one", () => {
  const task = slips(1).environment.tasks("train")[0]!;
  const of = (content: string) =>
    calculator(task, turnOf([1], [2], { action: { role: "assistant", content } }));
  assert.deepEqual(of("so 12 * 3 = 35 and 35 + 1 = 36"), {
    output: "calculator : 12 * 3 = 36",
    agrees: false,
  });
  assert.deepEqual(of("4 - 7 = -3, 8 / 2 = 4"), { output: "calculator : 8 / 2 = 4", agrees: true });
  for (const content of ["", "the answer is 4", "1 / 0 = 1", "7 / 2 = 3"])
    assert.equal(of(content), undefined);
});

const options = {
  ...{ repair: true, threshold: 0.7, repairCost: 0.05, toolReward: 0.3, divergence: 0.05, discount: 0.5 },
  ...{ tool: adder, maxTokens: 2 },
} satisfies Partial<SolverVerifierOptions>;

async function played(more: Partial<SolverVerifierOptions>) {
  const world = slips(2);
  const all: {
    units: readonly (readonly string[])[];
    trajectories: ReadonlyMap<string, { role: string; turns: number; process: number[] }>;
  }[] = [];
  const { counters, curve } = await trainInMemory({
    environment: world.environment,
    engine: tabularEngine({ prior: world.prior, features: slipsReader }),
    method: method({
      id: "agent0-vl",
      family: "self-play",
      summary: "a test",
      frozen: { reference: {} },
      says: [...(agent0Vl.says ?? []), "calculator"],
      slots: verified({ ...options, ...more }),
    }).build({ tasks: 2, groupSize: 4, learningRate: 0.01 }),
    seed: 1,
    iterations: 1,
    onIteration: ({ experience: { units, trajectories } }) =>
      void all.push({
        units: units.map(({ members }) => members),
        trajectories: new Map(
          trajectories.map(({ id, role, turns }) => [
            id,
            { role, turns: turns.length, process: turns.map(({ rewards }) => rewards.process ?? Number.NaN) },
          ]),
        ),
      }),
  });
  return { ...all[0]!, counters, stats: curve[0]! };
}

test("a unit is an attempt and the verdicts on all of its steps; a repair adds an episode, and discards", async () => {
  const { units, trajectories, counters, stats } = await played({});
  assert.equal(units.length, 8);
  for (const [attempt, ...verdicts] of units) {
    const { turns, role } = trajectories.get(attempt!)!;
    assert.deepEqual([role, turns, verdicts.length], ["agent", 4, 4]);
    assert.ok(verdicts.every((id) => trajectories.get(id)!.role === "verifier"));
  }
  assert.equal(counters.episodes, 8 + Math.round(8 * stats.repaired!));
  assert.ok(stats.repaired! > 0 && counters["tokens.discarded"]! > 0);
});

test("without repair nothing is played again; without training of the verifier its words are in no unit", async () => {
  const { units, counters, stats } = await played({ repair: false, trainsVerifier: false });
  assert.deepEqual([counters.episodes, counters["tokens.discarded"] ?? 0, stats.repaired], [8, 0, 0]);
  assert.ok(units.every(({ length }) => length === 1));
});

test("process rewards are discounted by step, and D is 0 while the policy is the reference", async () => {
  const { trajectories } = await played({ repair: false });
  const possible = [-1.3, -1, -0.8, -0.7, -0.5, -0.2, 0.2, 0.5, 0.7, 0.8, 1, 1.3];
  for (const { role, process } of trajectories.values()) {
    if (role !== "agent") continue;
    process.forEach((value, k) => {
      const reward = value / 0.5 ** k;
      assert.ok(
        possible.some((p) => Math.abs(p - reward) < 1e-4),
        `${reward}`,
      );
    });
  }
});
