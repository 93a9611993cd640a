import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { applyArtefact } from "../../../common/artefacts/applyArtefact.ts";
import { emptyInstructions } from "../../../common/artefacts/mergeArtefacts.ts";
import { asReserved } from "../../../common/artefacts/reserved.ts";
import { randomStream } from "../../../core/random.ts";
import type { Message, Stats, Task, Trajectory } from "../../../core/types.ts";
import { artefactsIn, currentArtefact } from "../../../train/artefacts.ts";
import { freshState } from "../../../train/state.ts";
import { type BootstrapOptions, bootstrapped, exampleOf } from "./bootstrap.ts";

const user = (content: string): Message => ({ role: "user", content });

test("exampleOf: the conversation, without the system message and without the examples that were shown in it", () => {
  const told = {
    ...emptyInstructions,
    system: "be good",
    examples: [exampleOf(trajectoryOf("old", [turnOf([7], [8])]), emptyInstructions)],
  };
  const { messages: prompt } = applyArtefact(told, [user("1"), user("2")]);
  assert.equal(prompt.length, 1 + 2 + 2);
  const first = turnOf([], [3], { prompt });
  const second = turnOf([], [5], { prompt: [...prompt, first.action, user("4")] });
  const { messages, origins } = exampleOf(trajectoryOf("new", [first, second]), told);
  assert.deepEqual(
    messages.map(({ content }) => content),
    ["1", "2", "3", "4", "5"],
  );
  assert.deepEqual(origins.trajectories, ["new"]);
});

/** Tasks that succeed where an example of their kind is shown; of kind 0 by themselves. Four trained, four held back. */
async function learnt(options: BootstrapOptions, iterations: number, refuse = false) {
  const taskOf = (id: string, i: number): Task => ({
    id,
    prompt: [user(`kind ${i % 2}`)],
    metadata: { kind: i % 2 },
    seed: 1,
  });
  const training = ["p0", "p1", "p2", "p3", "h0", "h1", "h2", "h3"]
    .map(taskOf)
    .map((task) => (task.id.startsWith("h") ? asReserved(task) : task));
  const state = freshState("train");
  const { rollout, update } = bootstrapped(options);
  const stats: Stats[] = [];
  const seen: (readonly Trajectory[])[] = [];
  let plays = 0;
  for (let iteration = 0; iteration < iterations; iteration++) {
    const ctx = ctxOf({
      clock: { iteration, phase: "train", step: 0 },
      random: randomStream(7).split("iteration", iteration),
      tasks: training,
      memory: { get: (key) => state.memory[key], set: (key, value) => void (state.memory[key] = value) },
      artefacts: artefactsIn(
        state,
        (artefact) =>
          refuse && artefact.kind === "instructions" && artefact.examples.length > 0
            ? [{ task: "h0", part: "example", what: "answer" }]
            : [],
        () => {},
      ),
      play: async ({ task, artefact }) => {
        plays++;
        if (typeof task === "string" || typeof artefact !== "object") throw new Error("by value");
        const { messages: prompt } = applyArtefact(artefact, task.prompt);
        const kind = Number(task.metadata.kind);
        // kind 1 succeeds once in the first iteration, by luck
        const success =
          kind === 0 ||
          prompt.slice(0, -1).some(({ content }) => content === "kind 1") ||
          (iteration === 0 && task.id === "p1");
        const turn = turnOf([], [1], { prompt, rewards: { outcome: Number(success) } });
        return [
          trajectoryOf(`${iteration} ${task.id}`, [turn], {
            task: task.id,
            end: { kind: "done", reason: "over", success },
          }),
        ];
      },
    });
    const { trajectories, units } = await rollout(ctx);
    seen.push(trajectories);
    stats.push(
      await update(ctx, batchOfRows([]), [], { trajectories, units, notes: {}, signals: [], channels: {} }),
    );
  }
  const artefact = currentArtefact(state)?.artefact;
  return { stats, seen, plays, examples: artefact?.kind === "instructions" ? artefact.examples : [] };
}

test("bootstrapped: a set that earns more on tasks held back is in force from then on, and training is played under it", async () => {
  const { stats, seen, plays, examples } = await learnt({ examples: 1 }, 12);
  assert.equal(
    stats[0]!["score.best"]! === 0.5 || stats[0]!["score.best"]! === 1,
    true,
    "half by themselves",
  );
  assert.equal(stats.at(-1)!["score.best"], 1);
  assert.equal(examples.length, 1);
  assert.equal(examples[0]!.messages[0]!.content, "kind 1");
  assert.ok(seen.at(-1)!.every((t) => t.end.kind === "done" && t.end.success));
  // 4 trained in each, 4 held back for what was at first, and 4 for the one set of each iteration
  assert.equal(plays, 12 * 4 + 4 + 12 * 4);
  assert.equal(
    stats.reduce((sum, one) => sum + one.joined!, 0),
    1,
    "what earns no more changes nothing",
  );
});

test("bootstrapped: a set that gives a held-out task away is refused and played nowhere", async () => {
  const { stats, plays, examples } = await learnt({}, 3, true);
  assert.ok(stats.every((one) => one["proposals.refused"] === 1 && one.joined === 0));
  assert.equal(plays, 3 * 4 + 4);
  assert.equal(examples.length, 0);
});

test("bootstrapped: of each task the latest success, none that is too long, and no more than are kept", async () => {
  const { stats } = await learnt({ kept: 2 }, 2);
  assert.equal(stats[0]!.successes, 2);
  const { stats: none } = await learnt({ characters: 3 }, 1);
  assert.equal(none[0]!.successes, 0);
  assert.equal(none[0]!.proposals, 0);
});
