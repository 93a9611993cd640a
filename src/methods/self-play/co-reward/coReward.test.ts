import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Play } from "../../../core/context.ts";
import { WhetstoneError } from "../../../core/errors.ts";
import type { Task } from "../../../core/types.ts";
import { agreement, majority } from "./agreement.ts";
import { bothViews, otherView, rewritten } from "./bothViews.ts";
import { twins } from "./twins.ts";

obeysTheLaws(() => twins({ questions: 6 }), { garbage: 0.3 });

/** Rewards of these answers to a question and to its twin. */
async function paid(answers: readonly string[], twin: readonly string[], label?: "other" | "own" | "both") {
  const trajectories = [answers, twin].flatMap((side, view) =>
    side.map((content, i) =>
      trajectoryOf(`${view}${i}`, [turnOf([1], [2], { action: { role: "assistant", content } })], {
        task: view === 0 ? "x" : otherView("x"),
      }),
    ),
  );
  const signals = await agreement(label)(ctxOf({}), { trajectories, units: [] }, {});
  const values = signals.flatMap((s) => (s.kind === "reward" ? [s.value] : []));
  return [values.slice(0, answers.length), values.slice(answers.length)];
}

test("each side is paid by the other side's majority", async () => {
  // x says b most, its twin says a most
  assert.deepEqual(await paid(["b", "b", "a"], ["a", "a", "c"]), [
    [0, 0, 1],
    [0, 0, 0],
  ]);
  assert.deepEqual(await paid(["b", "b", "a"], ["a", "a", "c"], "own"), [
    [1, 1, 0],
    [1, 1, 0],
  ]);
  assert.deepEqual(await paid(["b", "b", "a"], ["a", "a", "c"], "both"), [
    [0, 0, 1],
    [1, 1, 0],
  ]);
});

test("without an answer on one side the other gets nothing, and empty never agrees with empty", async () => {
  assert.deepEqual(await paid(["", " "], ["a", ""]), [
    [0, 0],
    [0, 0],
  ]);
  assert.deepEqual(await paid(["a"], []), [[0], []]);
});

test("the most frequent answer wins, of equally frequent ones the first; blanks make no difference", async () => {
  assert.equal(majority(["b", "a", "a", "b", "c"]), "b");
  assert.equal(majority(["", "", "c"]), "c");
  assert.equal(majority([]), undefined);
  assert.deepEqual(await paid([" 4  5 "], ["4 5"]), [[1], [1]]);
});

test("a failed attempt neither votes nor is paid", async () => {
  const failed = trajectoryOf("f", [turnOf([1], [2])], {
    task: "x",
    end: { kind: "failed", boundary: "model", message: "" },
  });
  assert.deepEqual(await agreement()(ctxOf({}), { trajectories: [failed], units: [] }, {}), []);
});

const task: Task = {
  id: "x",
  prompt: [{ role: "user", content: "q1" }],
  metadata: { rewritten: "p1" },
  seed: 1,
};

test("every task is played in both wordings, as two groups", async () => {
  const asked: Play[] = [];
  const { units } = await bothViews({ groupSize: 2 })(
    ctxOf({
      tasks: [task],
      task: () => task,
      play: async (play) => {
        asked.push(play);
        const id = typeof play.task === "string" ? play.task : play.task.id;
        return [trajectoryOf(`${id}/${play.attempt}`, [turnOf([1], [2])], { task: id })];
      },
    }),
  );
  assert.deepEqual(
    asked.map((play) => (typeof play.task === "string" ? play.task : play.task.prompt[0]!.content)),
    ["x", "x", "p1", "p1"],
  );
  assert.deepEqual(
    units.map(({ group }) => group),
    ["x", "x", "x#rewritten", "x#rewritten"],
  );
  assert.equal(otherView(otherView("x")), "x");
});

test("a task without other words is refused", () => {
  assert.throws(() => rewritten({ ...task, metadata: {} }), WhetstoneError);
});

test("both wordings have one right answer and, unless alike, two lures", () => {
  for (const alike of [false, true]) {
    const world = twins({ alike, questions: 12 });
    for (const own of world.tasks("train")) {
      const twin = rewritten(own);
      assert.equal(world.rightOf(own), world.rightOf(twin));
      const most = [own, twin].map(({ prompt }) => {
        const p = world.answers.map((word) =>
          Math.exp(world.prior(["<user>", prompt[0]!.content, "<assistant>"], word)),
        );
        assert.ok(Math.abs(p.reduce((a, b) => a + b, 0) - 1) < 1e-9);
        const wrong = p.map((x, i) => (world.answers[i] === world.rightOf(own) ? 0 : x));
        return wrong.indexOf(Math.max(...wrong));
      });
      assert.equal(most[0] === most[1], alike);
    }
  }
});
