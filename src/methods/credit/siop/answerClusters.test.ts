import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { signalValue } from "../../../core/signal.ts";
import type { Experience, Notes } from "../../../core/slots.ts";
import type { Message, Task, Trajectory } from "../../../core/types.ts";
import { answerClusters, clusterNotes } from "./answerClusters.ts";
import { inducedOutcome } from "./inducedOutcome.ts";
import { majorityVote } from "./majorityVote.ts";

const asked: Message = { role: "user", content: "who" };
const task: Task = { id: "task", prompt: [asked], metadata: {}, seed: 0 };
const ctx = ctxOf({ task: () => task });

/** An attempt that was told something, or nothing, and then wrote its last action. */
function attempt(id: string, told: string | undefined, last: string): Trajectory {
  const prompt: Message[] = told === undefined ? [asked] : [asked, { role: "user", content: told }];
  const final = turnOf([1, 2, 3], [4], { prompt, action: { role: "assistant", content: last } });
  return trajectoryOf(id, told === undefined ? [final] : [turnOf([1], [2], { prompt: [asked] }), final]);
}

const of = (trajectories: readonly Trajectory[]): Experience => ({
  trajectories,
  units: trajectories.map((t) => ({ id: t.id, group: "task", members: [t.id] })),
});

test("answerClusters is worked by hand: sizes, support by what was observed, and their mix", async () => {
  // Ann: two of three answers, told "it was ann" and "nothing": support (1 + 0)/2; Bob: one of three, told so: support 1
  const experience = of([
    attempt("a", "it was ann", "answer Ann"),
    attempt("b", "nothing", "answer  ann"),
    attempt("c", "it was bob", "answer bob"),
    attempt("d", "it was bob", "no idea"),
  ]);
  const notes = await answerClusters()(ctx, experience);
  const all = (name: string) => ["a", "b", "c", "d"].map((id) => notes[name]!.get(id)?.[0]);
  const [ann, bob] = [(2 / 3) * Math.exp(0.5), (1 / 3) * Math.exp(1)];
  assert.deepEqual(all(clusterNotes.rank), [0, 0, 1, undefined]);
  assert.deepEqual(
    all(clusterNotes.share),
    [2 / 3, 2 / 3, 1 / 3, undefined].map((x) => x && Math.fround(x)),
  );
  const trust = [ann / (ann + bob), ann / (ann + bob), bob / (ann + bob), undefined];
  assert.deepEqual(
    all(clusterNotes.trust),
    trust.map((x) => x && Math.fround(x)),
  );
  assert.equal(notes[clusterNotes.likelihood], undefined);
});

test("answerClusters: one cluster is trusted in full, and nothing observed supports nothing", async () => {
  const notes = await answerClusters()(
    ctx,
    of([attempt("a", undefined, "answer x"), attempt("b", "no", "answer x")]),
  );
  assert.deepEqual(
    [...notes[clusterNotes.trust]!.values()].map((x) => x[0]),
    [1, 1],
  );
});

const notes: Notes = {
  "cluster.rank": new Map([
    ["a", Float32Array.of(0)],
    ["b", Float32Array.of(1)],
  ]),
  "cluster.share": new Map([
    ["a", Float32Array.of(0.75)],
    ["b", Float32Array.of(0.25)],
  ]),
  "cluster.trust": new Map([
    ["a", Float32Array.of(0.5)],
    ["b", Float32Array.of(0.25)],
  ]),
  "cluster.likelihood": new Map([
    ["a", Float32Array.of(0.25, 0.5)],
    ["b", Float32Array.of(0.5)],
  ]),
};
const three = of([
  attempt("a", "x", "answer x"),
  attempt("b", undefined, "answer y"),
  attempt("c", "x", "no idea"),
]);

test("inducedOutcome pays the asking turn for the rise and the last turn for the trust", async () => {
  const signals = await inducedOutcome()(ctx, three, notes);
  const got = signals.map((s) => [s.channel, s.about[0], Math.round(signalValue(s)! * 1e5) / 1e5]);
  // 0.5 · ln 2; half of 0.5; half of 0.25; the third has no answer and no reward
  assert.deepEqual(got, [
    ["potential", { trajectory: "a", turn: 0 }, 0.34657],
    ["trust", { trajectory: "a", turn: 1 }, 0.25],
    ["trust", { trajectory: "b", turn: 0 }, 0.125],
  ]);
  const [steep] = await inducedOutcome({ limit: 0.5 })(ctx, three, notes);
  assert.equal(signalValue(steep!), 0.25);
});

test("majorityVote pays the largest cluster, or every cluster its share", async () => {
  const pay = async (pays: "largest" | "share") =>
    (await majorityVote({ pays })(ctx, three, notes)).map((s) => signalValue(s));
  assert.deepEqual(await pay("largest"), [1, 0, 0]);
  assert.deepEqual(await pay("share"), [0.75, 0.25, 0]);
});
