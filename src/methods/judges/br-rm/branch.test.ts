import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Play } from "../../../core/context.ts";
import type { Trajectory } from "../../../core/types.ts";
import { branchAndRethink } from "./branchAndRethink.ts";
import { branchReward, namesCriteria } from "./branchReward.ts";
import { closeLook, reader, speaking } from "./closeLook.ts";

obeysTheLaws(() => closeLook(1), { garbage: 0.7 });

const said = (id: string, content: string, success: boolean): Trajectory =>
  trajectoryOf(id, [turnOf([1], [2], { action: { role: "assistant", content } })], {
    end: { kind: "done", reason: "said", success },
  });

test("a first turn names one to three known criteria, each once", () => {
  const criteria = ["tone", "length", "safety", "clarity"];
  const names = (text: string) => namesCriteria(text, criteria, 3);
  assert.deepEqual(["tone", "tone, length\nsafety"].map(names), [true, true]);
  assert.deepEqual(["", "tone tone", "beauty", "tone and length", "tone length safety clarity"].map(names), [
    false,
    false,
    false,
    false,
    false,
  ]);
});

test("a judgement is two episodes and one unit; the second one sees the first turn's words", async () => {
  const plays: Play[] = [];
  const ctx = ctxOf({
    tasks: [{ id: "pair", prompt: [], metadata: {}, seed: 1 }],
    play: async (play) => {
      plays.push(play);
      return [{ ...said(`e${play.attempt}`, play.limits ? "tone" : "first", !play.limits), task: "pair" }];
    },
  });
  const rollout = branchAndRethink({ groupSize: 2, branch: "which ?", rethink: "again" });
  const { trajectories, units, stats } = await rollout(ctx);
  assert.deepEqual(
    units.map(({ group, members }) => [group, members]),
    [
      ["pair", ["e0", "e1"]],
      ["pair", ["e2", "e3"]],
    ],
  );
  assert.equal(trajectories.length, 4);
  assert.equal(stats?.["judged.right"], 1);
  assert.deepEqual(plays.find(({ attempt }) => attempt === 1)!.advice, [
    { role: "user", content: "which ?" },
    { role: "assistant", content: "tone" },
    { role: "user", content: "again" },
  ]);
  const alone = await branchAndRethink({ groupSize: 1, together: false })(ctx);
  assert.deepEqual(alone.units[0]!.members, ["e1"]);
  const given = await branchAndRethink({ groupSize: 1, given: () => "safety" })(ctx);
  assert.deepEqual(given.units[0]!.members, ["e1"]);
});

test("1 for a right verdict, 0 for a wrong one, less for a judgement without form", async () => {
  const paidFor = async (first: string | undefined, second: Trajectory): Promise<number> => {
    const own = first === undefined ? [second] : [said("one", first, false), second];
    const units = [{ id: second.id, group: "g", members: own.map(({ id }) => id) }];
    const [signal] = await branchReward()(ctxOf({}), { trajectories: own, units }, {});
    assert.deepEqual(signal?.about, [{ trajectory: second.id }]);
    return signal?.kind === "reward" ? signal.value : Number.NaN;
  };
  const cut: Trajectory = { ...said("cut", "", false), end: { kind: "truncated", limit: "turns", at: 1 } };
  assert.equal(await paidFor("tone", said("two", "first", true)), 1);
  assert.equal(await paidFor("tone", said("two", "first", false)), 0);
  assert.equal(await paidFor("the weather", said("two", "first", true)), -1);
  assert.equal(await paidFor("tone", cut), -1);
  assert.equal(await paidFor(undefined, said("two", "first", true)), 1);
});

test("close look: a dim look is wrong in three of ten, and a reader sees clearly only what it named", () => {
  const tasks = closeLook(3).tasks("train");
  let [wrong, all] = [0, 0];
  for (const { prompt } of tasks) {
    const words = prompt[0]!.content.split(" ");
    for (let a = 0; a < 6; a++, all++) wrong += Number(words[1 + a]!.at(-1) !== words[7 + a]!.at(-1));
  }
  assert.ok(Math.abs(wrong / all - 0.3) < 0.04, `${wrong / all}`); // 1800 looks: deviation 0.011
  const words = tasks[0]!.prompt[0]!.content.split(" ");
  const kind = words[0]!;
  const glance = ["<user>", ...words, "<end>", "<assistant>"];
  assert.deepEqual(
    reader(glance),
    words.slice(1, 7).map((word) => `${kind} ${word}`),
  );
  const asked = [...glance.slice(0, -1), "<user>", "criteria", "?", "<end>", "<assistant>"];
  assert.deepEqual(reader([...asked, "c2"]), [`criteria ${kind} c2`]);
  const again = [...asked, "c2", "<end>", "<user>", "rethink", "<end>", "<assistant>"];
  const clear = words.slice(7).find((word) => word.startsWith("t2"))!;
  assert.deepEqual(
    new Set(reader(again)),
    new Set(
      [...words.slice(1, 7).filter((word) => !word.startsWith("d2")), clear].map((word) => `${kind} ${word}`),
    ),
  );
  assert.equal(speaking(asked, "c2"), 0);
  assert.ok(speaking(asked, "first") < -1e8 && speaking(again, "c2") < -1e8);
});
