import assert from "node:assert/strict";
import { test } from "node:test";
import type { Trajectory } from "../../src/core/types.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import type { Environment } from "../../src/env/environment.ts";
import { gameEnvironment } from "../../src/env/games/environment.ts";
import { nim } from "../../src/env/games/nim.ts";
import { ticTacToe } from "../../src/env/games/ticTacToe.ts";
import { method } from "../../src/method/method.ts";
import {
  addEpisode,
  bestChild,
  meanReturn,
  newTree,
  priorOf,
  revisit,
  type SearchNode,
  treeOfEpisodes,
  urgency,
  wayDown,
} from "../../src/rollout/searchTree.ts";
import { type TreeSearchOptions, treeSearch } from "../../src/rollout/treeSearch.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { nothing } from "../../src/update/nothing.ts";
import { lock, settingsOf } from "../../src/worlds/lock.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";

const saying = (
  id: string,
  words: readonly string[],
  reward = 0,
  end: Trajectory["end"] = over,
): Trajectory =>
  trajectoryOf(
    id,
    words.map((content, k) =>
      turnOf([1], [2], {
        action: { role: "assistant", content },
        rewards: k === words.length - 1 ? { outcome: reward } : {},
      }),
    ),
    { end },
  );
const over = { kind: "done", reason: "over" } as const;
const at = (node: SearchNode, ...actions: readonly string[]): SearchNode =>
  actions.reduce((n, a) => n.children.get(a)!, node);
const near = (got: number, want: number): void =>
  assert.ok(Math.abs(got - want) < 1e-6, `${got} for ${want}`);

test("addEpisode: every situation on the way gets a visit and the return; equal actions are one child", () => {
  const root = newTree();
  addEpisode(root, saying("1", ["a", "b"]), 1);
  addEpisode(root, saying("2", ["a", "c"]), 0, 1); // a was chosen, c sampled
  addEpisode(root, saying("3", ["d ", "b"]), 0.5);
  assert.deepEqual([root.visits, root.sampled, [...root.children.keys()]], [3, 2, ["a", "d"]]);
  const a = at(root, "a");
  assert.deepEqual([a.visits, a.sampled, meanReturn(a), a.depth, a.through!.id], [2, 2, 0.5, 1, "1"]);
  assert.deepEqual([at(root, "a", "b").ended, a.ended, meanReturn(at(root, "a", "b"))], [true, false, 1]);
  near(meanReturn(root), 0.5);
  assert.equal(bestChild(root)!.action, "a"); // the first of equals
  revisit([root, a, at(root, "a", "b")]);
  near(meanReturn(a), 2 / 3);
  near(meanReturn(root), 2.5 / 4);
});

test("priorOf: the probability, corrected for length; 1 where nothing is known", () => {
  near(priorOf(Float32Array.of(-0.5)), Math.exp(-0.5));
  near(priorOf(Float32Array.of(-0.5, -0.5)), Math.exp(-1 / 2 ** 1.25));
  assert.equal(priorOf(undefined), 1);
  assert.equal(priorOf(Float32Array.of(Number.NaN)), 1);
});

test("urgency: PUCT and UCT by hand", () => {
  const root = newTree();
  addEpisode(root, saying("1", ["a"]), 1);
  addEpisode(root, saying("2", ["a"]), 0);
  addEpisode(root, saying("3", ["b"]), 0.2);
  addEpisode(root, saying("4", ["b"]), 0.2);
  const prior = Math.exp(-0.1); // one token of log-probability −0.1
  near(urgency(root, at(root, "a"), { kind: "puct", exploration: 1.5 }), 0.5 + (1.5 * prior * 2) / 3);
  near(urgency(root, at(root, "b"), { kind: "uct", exploration: 2 }), 0.2 + 2 * Math.sqrt(Math.log(4) / 2));
});

test("wayDown: stops where fewer than the width were sampled, and at ends", () => {
  const root = newTree();
  const rule = { kind: "uct", exploration: 0 } as const;
  const names = (width: number) => wayDown(root, rule, () => width).map(({ action }) => action);
  assert.deepEqual(names(1), [""]);
  addEpisode(root, saying("1", ["a", "b"]), 0);
  addEpisode(root, saying("2", ["c", "d"]), 1);
  assert.deepEqual(names(3), [""]);
  assert.deepEqual(names(2), ["", "c"]); // one action sampled after c
  assert.deepEqual(names(1), ["", "c", "d"]);
});

test("treeOfEpisodes: failed episodes are left out", () => {
  const failed = { kind: "failed", boundary: "environment", message: "" } as const;
  const tree = treeOfEpisodes([saying("1", ["a"], 1), saying("2", ["b"], 1, failed)], () => 1);
  assert.deepEqual([...tree.children.keys()], ["a"]);
});

/** One search of every task of a split by a policy that says any word, restricted to legal ones. */
async function searched(environment: Environment, split: string, options: TreeSearchOptions, limit = 1000) {
  const tasks = environment.tasks(split).slice(0, limit);
  const found: Trajectory[] = [];
  const { counters } = await trainInMemory({
    environment: { ...environment, splits: ["train"], tasks: (name) => (name === "train" ? tasks : []) },
    engine: tabularEngine(),
    method: method({
      id: "searching",
      family: "self-play",
      summary: "a search without learning",
      slots: { rollout: treeSearch({ constrained: true, ...options }), update: nothing() },
    }).build({ tasks: tasks.length }),
    seed: 1,
    iterations: 1,
    onIteration: ({ experience }) => void found.push(...experience.trajectories),
  });
  const byTask = Map.groupBy(found, (t) => t.task);
  return { counters, tasks, found, of: (id: string) => byTask.get(id)! };
}

const uct = { kind: "uct", exploration: 1 } as const;
const worth = (t: Trajectory): number => t.turns.at(-1)!.rewards.outcome!;

test("Nim: from every start that can be won, the search finds a move that wins", async () => {
  const environment = gameEnvironment(nim({ heaps: 2, most: 3 }), { tests: 1 });
  const options = { simulations: 300, width: 40, rule: uct };
  const { tasks, of, counters, found } = await searched(environment, "test", options);
  assert.equal(counters.episodes, found.length);
  let won = 0;
  for (const task of tasks) {
    const first = of(task.id)[0]!.turns[0]!.prompt.at(-1)!.content;
    const heaps = [...first.matchAll(/has (\d)/g)].map(([, n]) => Number(n));
    if ((heaps[0]! ^ heaps[1]!) === 0) continue; // lost against perfect play
    const move = bestChild(treeOfEpisodes(of(task.id), worth))!.action;
    const [name, taken] = move.split(" ");
    const left = heaps.map((n, h) => ("ab"[h] === name ? n - Number(taken) : n));
    assert.equal(left[0]! ^ left[1]!, 0, `${first}: ${move}`);
    won++;
  }
  assert.equal(won, 9); // six as first, and three where the opponent had to begin from equal heaps
});

test("tic-tac-toe: walking by the search, from either side, never loses against perfect play", async () => {
  const environment = gameEnvironment(ticTacToe, { tests: 1 });
  const options = { simulations: 400, width: 30, rule: uct, walk: true };
  const { tasks, of } = await searched(environment, "test", options);
  for (const { id, metadata } of tasks) {
    let node = treeOfEpisodes(of(id), worth);
    while (!node.ended) node = bestChild(node)!;
    assert.equal(meanReturn(node), 0, `as ${metadata.seat}`);
  }
});

test("a lock of 4^4 opens more often to a search than to as many attempts", async () => {
  const environment = lock({ locks: 4, wheels: 4, settings: 4, seed: 3 });
  const opened = (found: readonly Trajectory[]): number => found.filter((t) => worth(t) === 1).length;
  const rule = { kind: "puct", exploration: 1 } as const;
  const walked = await searched(environment, "train", { simulations: 100, width: 6, rule, walk: true });
  const count = walked.found.length / 4;
  const plain = await searched(environment, "train", { simulations: Math.ceil(count), width: 1e9, rule });
  assert.ok(
    opened(walked.found) > 2 * opened(plain.found),
    `${opened(walked.found)}, ${opened(plain.found)}`,
  );
  // what a simulation replays costs no tokens
  assert.ok(walked.counters["tokens.sampled"]! < 4 * walked.found.length);
  assert.equal(plain.counters["tokens.sampled"]!, 4 * plain.found.length);
  for (const task of environment.tasks("train")) assert.equal(settingsOf(task).length, 4);
});

test("an environment that cannot replay is refused once the search has to continue", async () => {
  const { abilities: _, ...rest } = lock({ locks: 1, wheels: 2 });
  const environment = { ...rest, abilities: new Set(["legal"] as const) };
  await assert.rejects(
    searched(environment, "train", { simulations: 5, width: 2, rule: uct }),
    /ability replay/,
  );
});
