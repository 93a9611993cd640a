import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceOf } from "../../../../test/core/make.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { spying } from "./method.ts";
import { roleBaselines } from "./roleBaselines.ts";
import { contradictions, spies, spyReader, spySpeaker, statement, viewOf } from "./spies.ts";
import { alternating, type Stage } from "./spyGames.ts";
import { clueRewards, decisionReward } from "./votes.ts";

const players = ["p0", "p1", "p2", "p3"];
const weights = { beta: 0.1, lambda: 0.1 };

test("clueRewards: by hand, and 0 in sum whatever the votes", () => {
  // votes 5 on the spy p1, 2 on p0, 1 nobody: v̄ = 2/3; β (5 − 2/3) = 0.4333
  const decisions = [...Array<string>(5).fill("p1"), "p0", "p0", "nobody"];
  const of = clueRewards(players, "p1", decisions, weights);
  const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-12, `${a} ${b}`);
  near(of.get("p1")!, -0.1 * (5 - 2 / 3));
  near(of.get("p0")!, (0.1 / 3) * (5 - 2 / 3) - 0.1 * (2 - 2 / 3));
  near(of.get("p2")!, (0.1 / 3) * (5 - 2 / 3) + 0.1 * (2 / 3));
  for (const votes of [decisions, [], ["p9", "nobody"], ["p0", "p2", "p3", "p3"]])
    near(
      [...clueRewards(players, "p2", votes, { beta: 0.3, lambda: 0.7 }).values()].reduce((a, b) => a + b, 0),
      0,
    );
});

test("decisionReward: the spy, nobody, and anything else", () => {
  assert.deepEqual(
    ["p1", "nobody", "p0", "", "p1 p2"].map((said) => decisionReward(said, "p1", "nobody")),
    [1, -0.5, -1, -1, -1],
  );
});

test("alternating: decisions first, and turns of equal length", () => {
  const stage = alternating(2);
  assert.deepEqual([0, 1, 2, 3, 4].map(stage), ["decisions", "decisions", "clues", "clues", "decisions"]);
});

test("roleBaselines: what a batch was paid enters the next batch's baseline alone", () => {
  const of = roleBaselines(["outcome"], 0.5);
  const evidence = evidenceOf([[1, 0]]);
  const first = of.apply(evidence, of.init(), undefined);
  assert.deepEqual(
    [...first.advantages.values()].map((xs) => xs[0]),
    [1, 0],
  );
  // b = 0.5 · 0 + 0.5 · ½
  assert.deepEqual(first.next, { outcome: 0.25 });
  const second = of.apply(evidence, first.next, undefined);
  assert.deepEqual(
    [...second.advantages.values()].map((xs) => xs[0]),
    [0.75, -0.25],
  );
  assert.deepEqual(roleBaselines(["other"], 0.5).apply(evidence, {}, undefined).next, {});
});

test("statements: fresh names what is new, again and echo what was last; a spy contradicts when it repeats what differs", () => {
  const own = [1, 2, 3];
  const said = [{ attribute: 1, value: 0 }];
  assert.deepEqual(statement("echo", own, []), { attribute: 0, value: 1 });
  assert.deepEqual(statement("fresh", own, said), { attribute: 0, value: 1 });
  assert.deepEqual(statement("again", own, said), { attribute: 1, value: 2 });
  assert.deepEqual(statement("echo", own, said), { attribute: 1, value: 0 });
  const all = [0, 1, 2].map((attribute) => ({ attribute, value: 0 }));
  assert.deepEqual(statement("fresh", own, all), { attribute: 2, value: 3 });
  // p1 says otherwise than p0, p2 and p3
  const round = [0, 3, 0, 0].map((value) => ({ attribute: 0, value }));
  assert.deepEqual(contradictions(round), [1, 3, 1, 1]);
  assert.deepEqual(contradictions([]), [0, 0, 0, 0]);
});

test("a spy sees one attribute otherwise, and tasks are the same each time", () => {
  const world = spies(1);
  assert.deepEqual(spies(1).tasks("test"), world.tasks("test"));
  assert.deepEqual(world.tasks("none"), []);
  for (const task of world.tasks("train")) {
    const civilian = players.find((player) => player !== task.metadata.spy)!;
    const [seen, changed] = [viewOf(task, civilian), viewOf(task, task.metadata.spy as string)];
    assert.equal(seen.filter((value, a) => value !== changed[a]).length, 1);
  }
});

test("each stage trains its own roles; a game has G decisions, and one of them was played", async () => {
  const roles: [number, string[], number][] = [];
  const stages: readonly Stage[] = ["decisions", "clues", "both"];
  const { counters } = await trainInMemory({
    environment: spies(1),
    engine: tabularEngine({ prior: spySpeaker, features: spyReader }),
    method: method({
      id: "vision-zero-spo",
      family: "self-play",
      summary: "a test",
      frozen: { reference: {} },
      slots: spying({
        ...{ games: 1, decisions: 4, decider: "decider", stage: (i) => stages[i]! },
        ...{ ...weights, keep: 0.9 },
      }),
    }).build({ tasks: 3, learningRate: 0.1, optimiser: "sgd" }),
    seed: 1,
    iterations: 3,
    onIteration: ({ experience: { units, trajectories } }) => {
      const byId = new Map(trajectories.map((t) => [t.id, t]));
      const trained = new Set(units.flatMap(({ members }) => members.map((id) => byId.get(id)!.role)));
      roles.push([units.length, [...trained].toSorted(), new Set(units.map(({ group }) => group)).size]);
    },
  });
  assert.deepEqual(roles, [
    [12, ["decider"], 3],
    [12, players, 1],
    [24, ["decider", ...players], 4],
  ]);
  assert.equal(counters.episodes, 9);
  // nine games of eight clues and four decisions
  assert.equal(counters["tokens.sampled"], 9 * 12);
});
