import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { glimpses } from "./glimpses.ts";
import { openvlthinker } from "./method.ts";
import { doubtsIn, modelOf, stageOf, worthImitating } from "./rounds.ts";

const trace = (id: string, words: string, success = true): Trajectory =>
  trajectoryOf(
    id,
    [
      turnOf(
        [1],
        words.split(" ").map((_, k) => k),
        {
          action: { role: "assistant", content: words },
        },
      ),
    ],
    { end: { kind: "done", reason: "over", success } },
  );

test("stageOf and modelOf: imitate and reinforce in turn; the last round is the policy", () => {
  const stages = Array.from({ length: 8 }, (_, i) => stageOf(i, 8, 2));
  assert.deepEqual(
    stages.map(({ round, kind }) => `${round} ${kind}`),
    [
      "1 imitate",
      "1 imitate",
      "1 reinforce",
      "1 reinforce",
      "2 imitate",
      "2 imitate",
      "2 reinforce",
      "2 reinforce",
    ],
  );
  assert.deepEqual(stageOf(0, 1, 2), { round: 1, kind: "imitate" });
  assert.deepEqual(
    [1, 2, 3].map((round) => modelOf(round, 3)),
    ["round1", "round2", "policy"],
  );
});

test("worthImitating: right, short, few doubts, the shortest first", () => {
  const all = [
    trace("a", "look wait look so v1"),
    trace("b", "look so v1"),
    trace("c", "so v1", false),
    trace("d", "look look look look look so v1"),
    trace("e", "look wait wait so v1"),
    trace("f", "look look so v1"),
  ];
  const doubts = { words: ["wait"], most: 1 };
  const ids = (longest: number, perTask: number) =>
    worthImitating(all, { longest, doubts, perTask }).map(({ id }) => id);
  assert.deepEqual(ids(6, 5), ["b", "f", "a"]);
  assert.deepEqual(ids(6, 2), ["b", "f"]);
  assert.deepEqual(ids(7, 5), ["b", "f", "a", "d"]);
  assert.equal(doubtsIn(all[4]!, ["wait", "so"]), 3);
});

obeysTheLaws(() => glimpses({ questions: 24 }), { garbage: 0.1, flawed: [0.4, 0.95] });

test("each round trains its own model from the base, on traces of the round before", async () => {
  const acted: string[] = [];
  const taught: string[] = [];
  const firsts: number[] = [];
  await trainInMemory({
    environment: glimpses({ questions: 4, values: 3 }),
    engine: tabularEngine({
      prior: (_context, word) => (/^(look|wait|so|v\d|<end>)$/.test(word) ? 0 : -1e9),
    }),
    method: openvlthinker.build(
      {
        tasks: 4,
        groupSize: 4,
        optimiser: "sgd",
        learningRate: 100,
        schedule: "constant",
        warmUp: 0,
        gradientClip: 1e9,
      },
      { longest: 9 },
    ),
    seed: 1,
    iterations: 8,
    onIteration: async ({ experience: { trajectories, units } }, _state, policy) => {
      const byId = new Map(trajectories.map((t) => [t.id, t]));
      const own = units.flatMap(({ members }) => members.map((id) => byId.get(id)!));
      acted.push(
        [
          ...new Set(trajectories.filter(({ origin }) => origin === "sampled").map((t) => t.turns[0]!.model)),
        ].join(),
      );
      taught.push([...new Set(own.map(({ origin, turns }) => `${origin} ${turns[0]!.model}`))].join());
      for (const t of own) if (t.origin === "demonstrated") assert.ok(succeeded(t));
      firsts.push(Number(policy.version.split(/\D/).at(-1)));
    },
  });
  assert.deepEqual(acted, ["", "", "round1", "round1", "round1", "round1", "policy", "policy"]);
  assert.deepEqual(taught, [
    ...Array.from({ length: 2 }, () => "demonstrated round1"),
    ...Array.from({ length: 2 }, () => "sampled round1"),
    ...Array.from({ length: 2 }, () => "demonstrated policy"),
    ...Array.from({ length: 2 }, () => "sampled policy"),
  ]);
  // the policy is the base until its own round
  assert.equal(new Set(firsts.slice(0, 4)).size, 1);
});
