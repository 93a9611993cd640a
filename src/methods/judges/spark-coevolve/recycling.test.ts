import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { randomStream } from "../../../core/random.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { answers } from "../../../worlds/answers.ts";
import { sparkCoevolve } from "./method.ts";
import { recycledItems } from "./recycledItems.ts";
import { recycling } from "./recycling.ts";

const attempt = (id: string, success: boolean, content = "said"): Trajectory =>
  trajectoryOf(id, [turnOf([1], [2], { action: { role: "assistant", content } })], {
    end: { kind: "done", reason: "said", success },
  });
const group = (name: string, ...right: boolean[]) => right.map((is, i) => attempt(`${name}${i}`, is));

test("what becomes of a group depends on what is right in it", () => {
  const items = (attempts: readonly Trajectory[], single = 0, seed = 1) =>
    recycledItems([attempts], { single, most: 32 }, randomStream(seed)).map((item) => ({
      ...item,
      id: item.about.id,
    }));
  assert.deepEqual(
    items(group("r", true, true)).map(({ kind, id }) => [kind, id]),
    [["single", "r0"]],
  );
  const [one, repair] = items(group("w", false, false, false));
  assert.equal(one!.kind, "single");
  assert.equal(repair!.kind, "repair");
  assert.ok(!succeeded(one!.about));
  for (let seed = 0; seed < 20; seed++) {
    const [pair] = items(group("m", true, false, false), 0, seed);
    assert.ok(pair?.kind === "pair" && succeeded(pair.about) !== succeeded(pair.other));
    assert.equal(items(group("m", true, false), 1, seed)[0]!.kind, "single");
  }
  assert.deepEqual(items([attempt("blank", false, " ")]), []);
});

test("orders, classes and traces are coins; 30 % of mixed groups are asked about a single attempt; the most is kept to", () => {
  const groups = Array.from({ length: 2000 }, (_, g) => group(`${g}.`, true, false, true, false));
  const all = recycledItems(groups, { single: 0.3, most: 1e6 }, randomStream(3));
  const singles = all.filter(({ kind }) => kind === "single");
  const pairs = all.filter(({ kind }) => kind === "pair");
  const share = (part: readonly unknown[], of: readonly unknown[]): number => part.length / of.length;
  const near = (x: number, to: number): void => assert.ok(Math.abs(x - to) < 0.06, `${x}`);
  near(share(singles, [...singles, ...pairs]), 0.3); // deviation 0.01
  near(
    share(
      singles.filter(({ about }) => succeeded(about)),
      singles,
    ),
    0.5,
  ); // 0.02
  near(
    share(
      pairs.filter(({ about }) => succeeded(about)),
      pairs,
    ),
    0.5,
  );
  const repairs = all.flatMap((item) => (item.kind === "repair" ? [item] : []));
  assert.equal(repairs.length, 2000);
  near(
    share(
      repairs.filter(({ whole }) => whole),
      repairs,
    ),
    0.5,
  );
  const few = recycledItems(groups, { single: 0.3, most: 32 }, randomStream(3));
  assert.equal(few.filter(({ kind }) => kind === "repair").length, 32);
  assert.equal(few.length, 64);
});

test("verdicts and choices are paid by their labels, repairs by the environment; every prompt is a group of its own", async () => {
  const seen = new Set<string>();
  await trainInMemory({
    environment: answers({ questions: 12, vocabulary: 3, right: 1 }),
    engine: tabularEngine({
      prior: (context, word) => {
        if (context.at(-1) !== "<assistant>") return word === "<end>" ? 0 : -1e9;
        const words = context.includes("RIGHT")
          ? /^(RIGHT|WRONG)$/
          : context.includes("better,")
            ? /^[AB]$/
            : /^a\d$/;
        return words.test(word) ? 0 : -1e9;
      },
    }),
    method: sparkCoevolve.build({ tasks: 12, groupSize: 4, optimiser: "sgd", learningRate: 1 }),
    seed: 2,
    iterations: 2,
    onIteration: ({ experience: { units, trajectories } }) => {
      const byId = new Map(trajectories.map((t) => [t.id, t]));
      for (const members of Map.groupBy(units, ({ group }) => group).values()) {
        assert.equal(members.length, 4);
      }
      for (const { group, members } of units) {
        const t = byId.get(members[0]!)!;
        const [turn] = t.turns;
        const said = turn!.action.content.split(" ")[0]!;
        if (t.role === "critiquer") {
          const right = succeeded(byId.get(group)!);
          const verdict = said === "RIGHT" || said === "A";
          assert.equal(turn!.rewards.rating, Number(right === verdict));
          seen.add(said);
        } else if (group.endsWith("/repair")) {
          const wrong = byId.get(group.slice(0, -"/repair".length))!;
          assert.ok(!succeeded(wrong));
          assert.match(
            turn!.prompt.at(-1)!.content,
            new RegExp(`${wrong.turns[0]!.action.content}\\nWRONG$`),
          );
          seen.add("repair");
        }
      }
    },
  });
  assert.deepEqual(seen, new Set(["RIGHT", "WRONG", "A", "B", "repair"]));
});

test("a repair shows the last action, or all of them, and failed repairs are in no unit", async () => {
  const [first, last] = ["one", "two"].map((content) =>
    turnOf([1], [2], { action: { role: "assistant", content } }),
  );
  const wrong = trajectoryOf("w", [first!, last!], { end: { kind: "done", reason: "said", success: false } });
  const shown = new Set<unknown>();
  for (let seed = 0; seed < 8; seed++) {
    const ctx = ctxOf({
      random: randomStream(seed),
      play: async ({ advice, attempt: n }) => {
        shown.add(advice);
        const gone = { kind: "failed", boundary: "model", message: "gone" } as const;
        return [{ ...attempt(`r${n}`, true), ...(n === 1 ? { end: gone } : {}) }];
      },
    });
    const options = { single: 0, most: 9, groupSize: 2, temperature: 1, kinds: ["repair"] } as const;
    const units = [{ id: "w", group: "g", members: ["w"] }];
    const made = await recycling(async () => ({ trajectories: [wrong], units }), options)(ctx);
    assert.deepEqual(
      made.units.map(({ group, members }) => [group, members]),
      [
        ["g", ["w"]],
        ["w/repair", ["r2"]],
      ],
    );
    assert.equal(made.stats?.repaired, 1);
  }
  assert.deepEqual(shown, new Set(["your attempt :\ntwo\nWRONG", "your attempt :\none\ntwo\nWRONG"]));
});
