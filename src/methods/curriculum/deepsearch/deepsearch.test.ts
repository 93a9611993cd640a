import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Ending, Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { lock } from "../../../worlds/lock.ts";
import { deepsearch } from "./method.ts";
import { treeCredit } from "./searched.ts";
import {
  backUp,
  childOf,
  chosenLeaf,
  creditsOf,
  descended,
  frontierOf,
  type Node,
  pathTo,
  rootNode,
} from "./tree.ts";

const near = (got: number, want: number): void =>
  assert.ok(Math.abs(got - want) < 1e-9, `${got} for ${want}`);

const cut: Ending = { kind: "truncated", limit: "turns", at: 1 };
const over = (success: boolean): Ending => ({ kind: "done", reason: "over", success });
/** An attempt of some turns; its last turn's tokens have these log-probabilities. */
const attempt = (turns: number, end: Ending, logp: readonly number[] = [-0.5]): Trajectory =>
  trajectoryOf(
    "t",
    Array.from({ length: turns }, () => {
      const turn = turnOf([1], [2]);
      return { ...turn, tokens: { ...turn.tokens!, logp: Float32Array.from(logp) } };
    }),
    { end },
  );
const grown = (parent: Node, end: Ending, logp?: readonly number[]): Node => {
  const child = childOf(parent, attempt(parent.depth + 1, end, logp), 64);
  parent.children = [...parent.children, child];
  parent.isExpanded = true;
  return child;
};

test("childOf: an attempt cut by its turns can go on, unless it has as many as there may be", () => {
  const root = rootNode();
  assert.equal(childOf(root, attempt(1, cut), 64).isLeaf, false);
  assert.equal(childOf(root, attempt(1, cut), 1).isLeaf, true);
  assert.equal(childOf(root, attempt(1, over(false)), 64).isLeaf, true);
  near(childOf(root, attempt(1, cut, [-1, -2]), 64).surprise, 1.5);
});

test("chosenLeaf: a right one, else the least surprising", () => {
  const root = rootNode();
  const sure = grown(root, over(false), [-0.25]);
  const unsure = grown(root, over(false), [-2]);
  assert.equal(chosenLeaf([unsure, sure]), sure);
  const right = grown(root, over(true), [-4]);
  assert.equal(chosenLeaf([unsure, sure, right]), right);
  assert.equal(chosenLeaf([]), undefined);
});

test("backUp: shares by depth, and a wrong attempt does not erase what a right one said", () => {
  const root = rootNode();
  const a = grown(root, cut);
  const right = grown(a, over(true));
  const wrong = grown(a, over(false));
  backUp(wrong, -1);
  // a path of three: shares 1/3, 2/3 and 1
  [root, a, wrong].forEach((node, i) => void near(node.value, -(i + 1) / 3));
  backUp(right, 1);
  // values below 0 give way to the right verdict
  [root, a, right].forEach((node, i) => void near(node.value, (i + 1) / 3));
  const another = grown(a, over(false));
  backUp(another, -1);
  near(a.value, 2 / 3);
  near(another.value, -1);
  assert.equal(a.visits, 3);
  assert.deepEqual(pathTo(right), [root, a, right]);
});

test("backUp: no share below a tenth", () => {
  let node = rootNode();
  const root = node;
  for (let i = 0; i < 19; i++) node = grown(node, i === 18 ? over(true) : cut);
  backUp(node, 1);
  near(root.value, 0.1);
});

test("descended: value and visits of children that can go on", () => {
  const root = rootNode();
  root.visits = 10;
  const often = Object.assign(grown(root, cut), { visits: 8, value: 4 });
  const rarely = Object.assign(grown(root, cut), { visits: 1, value: 0.1 });
  Object.assign(grown(root, over(true)), { visits: 1, value: 9 });
  // 0.5 + √(ln 10 / 8) λ against 0.1 + √(ln 10) λ
  assert.equal(descended(root, 0), often);
  assert.equal(descended(root, 1), rarely);
});

test("frontierOf: by the parent's value, then by depth; expanded nodes and leaves are left out", () => {
  const root = rootNode();
  const good = Object.assign(grown(root, cut), { visits: 2, value: 1 });
  const bad = Object.assign(grown(root, cut), { visits: 2, value: -1 });
  const lone = grown(root, cut);
  const underGood = grown(good, cut);
  const underBad = grown(bad, cut);
  grown(good, over(false));
  const rule = { entropy: 0, depth: 64 };
  assert.equal(frontierOf(root, rule), underGood);
  grown(underGood, over(false));
  // 0.4 tanh 0 for the root's child, 0.4 tanh(−½) under the bad one
  assert.equal(frontierOf(root, rule), lone);
  grown(lone, over(false));
  assert.equal(frontierOf(root, rule), underBad);
});

test("creditsOf: squashed inside, the verdict at the leaf, minus the leaves' mean", () => {
  const root = rootNode();
  const a = grown(root, cut);
  const right = grown(a, over(true));
  const wrong = grown(a, over(false));
  backUp(right, 1);
  backUp(wrong, -1);
  const [ofRight, ofWrong] = creditsOf([right, wrong]);
  near(ofRight![0]!, Math.tanh(2 / 3));
  near(ofRight![1]!, 1);
  near(ofWrong![0]!, Math.tanh(2 / 3));
  near(ofWrong![1]!, -1);
  // of a single leaf the mean counts as 0
  near(creditsOf([right])[0]![1]!, 1);
});

test("a search backs up as many leaves as asked; what it solved is attempted plainly, with a stored success", async () => {
  const seen: { readonly sizes: number[]; readonly origins: number }[] = [];
  const { curve } = await trainInMemory({
    environment: lock({ locks: 2, wheels: 3, settings: 2 }),
    engine: tabularEngine({ context: "message", prior: (_context, word) => (/^s\d$/.test(word) ? 0 : -1e9) }),
    method: deepsearch.build(
      { tasks: 2, groupSize: 4, optimiser: "sgd", learningRate: 0.1 },
      { width: 2, stored: 1 },
    ),
    seed: 1,
    iterations: 8,
    onIteration: ({ experience: { trajectories, units } }) => {
      seen.push({
        sizes: [...Map.groupBy(units, ({ group }) => group).values()].map((group) => group.length),
        origins: trajectories.filter(({ turns }) => turns.length === 3).length,
      });
    },
  });
  for (const { sizes, origins } of seen) {
    assert.ok(sizes.every((size) => size <= 4));
    assert.equal(
      origins,
      sizes.reduce((a, b) => a + b),
      "only whole attempts are trained on",
    );
  }
  assert.equal(curve[0]!.searched, 1);
  assert.ok(curve.at(-1)!.searched! < 1, "locks of eight settings are found soon");
});

test("a node that no turn can follow is an attempt that was cut: at the end of the context a search does not try all others", async () => {
  const cut = async (wheels: number, width: number, contextTokens: number) => {
    const attempts: number[] = [];
    const { curve } = await trainInMemory({
      environment: lock({ locks: 2, wheels, settings: 2 }),
      engine: tabularEngine({
        context: "message",
        prior: (_context, word) => (/^s\d$/.test(word) ? 0 : -1e9),
      }),
      method: deepsearch.build({ tasks: 2, groupSize: 4 }, { width }),
      seed: 1,
      iterations: 1,
      contextTokens,
      onIteration: ({ experience: { trajectories } }) => void attempts.push(trajectories.length),
    });
    return { attempts, segments: curve[0]!.segments! };
  };
  // no second turn fits: the two first turns are all there is
  assert.deepEqual((await cut(3, 2, 11)).attempts, [4]);
  const { attempts, segments } = await cut(8, 2, 40);
  assert.deepEqual(attempts, [8]);
  assert.ok(segments <= 4 * 8 * 2, `${segments} turns for four attempts`);
});

test("treeCredit: a signal for each turn that has a credit", async () => {
  const ctx = ctxOf({ memory: { get: () => ({ t: [0.5, -1] }), set: () => {} } });
  const signals = await treeCredit()(ctx, { trajectories: [attempt(2, over(true))], units: [] }, {});
  assert.deepEqual(
    signals.map((signal) => [signal.about[0]!.turn, "value" in signal && signal.value]),
    [
      [0, 0.5],
      [1, -1],
    ],
  );
});
