import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { introspection, proposalIn, truthOf } from "./introspection.ts";
import { knowrlSelfKnowledge } from "./method.ts";
import { agreement, majority } from "./selfConsistent.ts";

const f = "feasible";
const i = "infeasible";

test("agreement: with the label, or with each other; what is no label agrees with nothing", () => {
  assert.equal(agreement([f, f, i, f], f, "label"), 0.75);
  assert.equal(agreement([f, f, i, f], i, "label"), 0.25);
  assert.equal(agreement([f, f, i, f], i, "consensus"), 0.75); // agreeing against the label pays
  assert.equal(agreement([f, "k1", "k2", i], f, "label"), 0.25);
  assert.equal(agreement([], f, "label"), 0);
});

test("majority: undefined for a tie", () => {
  assert.equal(majority([f, i, f]), f);
  assert.equal(majority([i, "k1"]), i);
  assert.equal(majority([f, i]), undefined);
});

test("proposalIn: a label and a task, and nothing else", () => {
  assert.deepEqual(proposalIn(" feasible k3 "), { label: f, kind: "k3" });
  for (const reply of ["k3 feasible", "feasible", "feasible k3 k4", "feasible 3", ""])
    assert.equal(proposalIn(reply), undefined);
});

obeysTheLaws(() => introspection({ kinds: 12 }), { garbage: 0.6 });

async function cycle(options: Parameters<typeof knowrlSelfKnowledge.build>[1], iterations = 1) {
  const found: Trajectory[] = [];
  const groups = new Map<string, string[]>();
  const { counters, policy } = await trainInMemory({
    environment: introspection({ kinds: 12, seed: 2 }),
    engine: tabularEngine({
      context: "message",
      prior: (context, word) => {
        const said = context.length - 1 - context.lastIndexOf("<assistant>");
        if (said === 1) return /^k\d+$/.test(word) ? 0 : -1e9;
        if (!/feasible$/.test(word)) return -1e9;
        return word === f ? 2 : 0; // mostly calls tasks feasible, in proposals and judgements
      },
    }),
    method: knowrlSelfKnowledge.build(
      { optimiser: "sgd", learningRate: 30, schedule: "constant", warmUp: 0, gradientClip: 1e9 },
      { proposals: 8, judgements: 5, ...options },
    ),
    seed: 1,
    iterations,
    onIteration: ({ experience }) => {
      if (found.length > 0) return;
      found.push(...experience.trajectories);
      for (const { group, id } of experience.units) groups.set(group, [...(groups.get(group) ?? []), id]);
    },
  });
  return { found, groups, counters, policy };
}
const textOf = (t: Trajectory): string => t.turns[0]!.action.content.trim();
const paidTo = (t: Trajectory): number => t.turns[0]!.rewards.agreement!;

test("a cycle: different proposals, half under each label; each judged without its label", async () => {
  const { found, groups, counters } = await cycle({ proposals: 4 });
  const byId = new Map(found.map((t) => [t.id, t]));
  const proposed = groups.get("introspection/propose")!.map((id) => byId.get(id)!);
  assert.equal(new Set(proposed.map(textOf)).size, proposed.length);
  const count = (label: string) => proposed.filter((t) => proposalIn(textOf(t))!.label === label).length;
  assert.equal(count(f), 2); // though the policy proposes mostly feasible ones
  assert.ok(count(i) <= 2);
  assert.equal(counters.episodes, 8 + 5 * proposed.length);
  const judged = [...groups].filter(([group]) => group.startsWith("judge"));
  for (const [, ids] of judged) {
    const votes = ids.map((id) => byId.get(id)!);
    assert.equal(votes.length, 5);
    const most = majority(votes.map(textOf));
    for (const vote of votes) {
      assert.match(vote.turns[0]!.prompt.at(-1)!.content, /^judge k\d+$/);
      assert.equal(paidTo(vote), Number(textOf(vote) === most));
    }
  }
  assert.ok(judged.length > 0);
  // what is true is known to the environment, and pays nothing
  for (const t of proposed) {
    const { label, kind } = proposalIn(textOf(t))!;
    assert.equal(succeeded(t), truthOf(kind, 2) === label);
  }
});

test("without `judge`, judgements are in no unit", async () => {
  const { groups } = await cycle({ judge: false });
  assert.deepEqual([...groups.keys()], ["introspection/propose"]);
});
