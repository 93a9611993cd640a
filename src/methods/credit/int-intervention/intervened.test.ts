import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { concatIds } from "../../../common/tokens/sequence.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Model, SampleRequest } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { wordCodec } from "../../../engine/tabular/codec.ts";
import { type InterventionsOptions, intervened, proposedBySelf, stepsOf } from "./intervened.ts";

const asked = "Attempt: Reference solution: which step is wrong";
const codec = wordCodec([..."abcdexyz", "\n", "1:", "2:", "3:", ...new Set(asked.split(" "))]);
const ids = (text: string): number[] => [...codec.encode(text)];
const opening = ids("e");

/** An attempt whose turns say these texts, each prompt going on from the turn before. */
function attempt(
  id: string,
  said: readonly string[],
  success: boolean,
  stop: "eos" | "length" = "eos",
): Trajectory {
  let prompt = opening;
  const turns = said.map((text) => {
    const action = [...ids(text), ...(stop === "eos" ? [codec.endId] : [])];
    const turn = turnOf(prompt, action, { stop, action: { role: "assistant", content: text } });
    prompt = [...prompt, ...action, ...ids("e")];
    return turn;
  });
  return trajectoryOf(id, turns, { end: { kind: "done", reason: "over", success } });
}

const task: Task = {
  id: "task",
  prompt: [{ role: "user", content: "e" }],
  reference: "z",
  metadata: {},
  seed: 1,
};

/** @param says what the model replies when it is asked. */
function world(says = "", heard: SampleRequest[] = []): Ctx {
  const action = codec.encode(says);
  const logp = new Float32Array(action.length);
  const sample: Model["sample"] = async (requests) => {
    heard.push(...requests);
    return requests.map(() => ({ action, logp, behaviour: logp, stop: "eos", version: "0" }));
  };
  const model: Pick<Model, "codec" | "sample"> = { codec, sample };
  return ctxOf({ task: () => task, model: () => model as Model, random: randomStream(1) });
}

async function rows(attempts: readonly Trajectory[], options: InterventionsOptions, ctx = world()) {
  const units = attempts.map((t) => ({ id: t.id, group: t.task, members: [t.id] }));
  const experience = await intervened(async () => ({ trajectories: attempts, units }), options)(ctx);
  assert.deepEqual(experience.trajectories, attempts);
  return {
    stats: experience.stats,
    rows: (experience.rows ?? []).map((row) => ({
      text: codec.decode(row.tokens),
      learnt: [...row.targets].map((p) => row.tokens[p]!),
      row,
    })),
  };
}

test("the row is the attempt up to its first wrong step, and the correction; both are learnt, nothing follows", async () => {
  const failed = attempt("t", ["a", "b", "c"], false);
  const made = await rows([failed], { propose: async () => ({ step: 1, text: "x" }) });
  assert.equal(made.rows.length, 1);
  const { learnt, row } = made.rows[0]!;
  assert.deepEqual(learnt, [...ids("a"), codec.endId, ...ids("x"), codec.endId]);
  // the prompt of the second turn as it was: opening, first action, what was seen
  assert.deepEqual(
    [...row.tokens],
    [...opening, ...ids("a"), codec.endId, ...ids("e"), ...ids("x"), codec.endId],
  );
  assert.equal(row.info.context, "rewritten");
  assert.ok(Number.isNaN(row.behaviour.at(-1)));
  assert.deepEqual(made.stats, { interventions: 1 });
});

test("a step that was cut by a limit ends as it did, without an end token", async () => {
  const failed = attempt("t", ["a", "b"], false, "length");
  const made = await rows([failed], { propose: async () => ({ step: 0, text: "x" }) });
  assert.deepEqual(made.rows[0]!.learnt, ids("x"));
});

test("steps are the lines of an action; one in its middle is followed by a line break and nothing else", async () => {
  const failed = attempt("t", ["a b \n c \n \n d"], false);
  assert.deepEqual(
    stepsOf(failed, codec).map(({ text, from, last }) => [text.trim(), from, last]),
    [
      ["a b", 0, false],
      ["c", 3, false],
      ["d", 6, true],
    ],
  );
  const middle = await rows([failed], { propose: async () => ({ step: 1, text: "x y" }) });
  assert.deepEqual(middle.rows[0]!.learnt, ids("a b \n x y \n"));
  const end = await rows([failed], { propose: async () => ({ step: 2, text: "x" }) });
  assert.deepEqual(end.rows[0]!.learnt, [...ids("a b \n c \n \n x"), codec.endId]);
});

test("successes, tasks that mostly succeed, answers given away and steps that do not exist make no rows", async () => {
  const good = attempt("good", ["a"], true);
  const bad = attempt("bad", ["b"], false);
  const propose = async () => ({ step: 0, text: "x" });
  assert.equal((await rows([good], { propose })).rows.length, 0);
  assert.equal((await rows([good, bad], { propose })).rows.length, 1, "half succeeded");
  assert.equal((await rows([good, { ...good, id: "again" }, bad], { propose })).rows.length, 0);
  assert.equal((await rows([bad], { propose: async () => ({ step: 0, text: "x z y" }) })).rows.length, 0);
  assert.equal((await rows([bad], { propose: async () => ({ step: 7, text: "x" }) })).rows.length, 0);
  const none = await rows([bad], { propose: async () => undefined });
  assert.equal(none.rows.length, 0);
  assert.deepEqual(none.stats, { interventions: 0 });
});

test("the policy itself is shown numbered steps and the reference; the row holds neither", async () => {
  const failed = attempt("t", ["a", "b"], false);
  const propose = proposedBySelf({ question: "which step is wrong" });
  const heard: SampleRequest[] = [];
  const made = await rows([failed], { propose }, world("2: x y", heard));
  assert.equal(
    codec.decode(heard[0]!.prompt),
    "e Attempt:\n1: a\n2: b\nReference solution: z\nwhich step is wrong",
  );
  assert.deepEqual(made.rows[0]!.learnt, [...ids("a"), codec.endId, ...ids("x y"), codec.endId]);
  const expected = concatIds([
    Int32Array.from([...opening, ...ids("a"), codec.endId, ...ids("e")]),
    codec.encode("x y"),
  ]);
  assert.deepEqual([...made.rows[0]!.row.tokens], [...expected, codec.endId]);
  // a reply of another form is no proposal
  assert.equal((await rows([failed], { propose }, world("x y"))).rows.length, 0);
});
