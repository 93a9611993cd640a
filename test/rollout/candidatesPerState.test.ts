import assert from "node:assert/strict";
import { test } from "node:test";
import { mapById } from "../../src/common/mapById.ts";
import type { Play } from "../../src/core/context.ts";
import type { Task, Trajectory } from "../../src/core/types.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { method } from "../../src/method/method.ts";
import { candidatesPerState } from "../../src/rollout/candidatesPerState.ts";
import type { Iteration } from "../../src/train/running.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { plainAscent } from "../../src/train/trainingArm.ts";
import { clarification } from "../../src/worlds/clarification.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

const task: Task = { id: "q", prompt: [], metadata: {}, seed: 1 };

/** A play of two turns; branches keep what was replayed and add a turn. The one named fails. */
function playing(broken?: string) {
  const plays: Play[] = [];
  const play = async (wanted: Play): Promise<readonly Trajectory[]> => {
    plays.push(wanted);
    const { from, attempt } = wanted;
    const before = from ? from.trajectory.turns.slice(0, from.turn) : [turnOf([0], [5, 6])];
    const id = `q#${attempt}`;
    const end = { kind: "failed", boundary: "model", message: "" } as const;
    return [
      trajectoryOf(id, [...before, turnOf([1], [attempt])], { task: "q", ...(id === broken && { end }) }),
    ];
  };
  return { play, plays };
}

test("every state of the episode played has a group of branches, which go one step further", async () => {
  const { play, plays } = playing("q#4");
  const { units, trajectories } = await candidatesPerState({ candidates: 2 })(ctxOf({ tasks: [task], play }));
  assert.deepEqual(
    units.map(({ id, group, members }) => [id, group, members]),
    [
      ["q#1", "q/0", ["q#1"]],
      ["q#2", "q/0", ["q#2"]],
      ["q#3", "q/1", ["q#3"]], // and the fourth failed
    ],
  );
  assert.deepEqual(
    plays.map(({ from, limits }) => [from?.turn, limits?.turns]),
    [
      [undefined, undefined],
      [0, 1],
      [0, 1],
      [1, 2],
      [1, 2],
    ],
  );
  const forced = trajectories.map(({ turns }) =>
    turns.map(({ tokens }) => tokens?.forced && [...tokens.forced]),
  );
  assert.deepEqual(
    forced,
    [[undefined], [undefined], [[1, 1], undefined]],
    "what was replayed is no choice of its own",
  );
});

test("a played episode that failed has no states", async () => {
  const { play } = playing("q#0");
  assert.deepEqual(await candidatesPerState()(ctxOf({ tasks: [task], play })), {
    trajectories: [],
    units: [],
  });
});

test("in a real dialogue the branches of a state see the same, and differ in their last action alone", async () => {
  const seen: Iteration[] = [];
  await trainInMemory({
    environment: clarification({ users: 4 }),
    engine: tabularEngine({ context: "message", prior: (_context, word) => (word === "ask" ? 2 : 0) }),
    method: method({
      id: "variant",
      family: "user-feedback",
      summary: "a variant",
      slots: { rollout: candidatesPerState({ candidates: 4 }) },
    }).build({ ...plainAscent, tasks: 2 }),
    seed: 1,
    iterations: 1,
    onIteration: (done) => void seen.push(done),
  });
  const { trajectories, units } = seen[0]!.experience;
  const byId = mapById(trajectories);
  const groups = [...Map.groupBy(units, (u) => u.group).values()];
  assert.ok(groups.length >= 4, "both dialogues had several states");
  for (const group of groups) {
    const branches = group.map(({ id }) => byId.get(id)!);
    const prompts = branches.map(({ turns }) => turns.at(-1)?.tokens?.prompt);
    assert.ok(prompts.length === 4 && prompts.every((p) => p && p.join() === prompts[0]?.join()));
  }
  const several = groups.filter(
    (group) => new Set(group.map(({ id }) => byId.get(id)?.turns.at(-1)?.action.content)).size > 1,
  );
  assert.ok(several.length > groups.length / 2);
});
