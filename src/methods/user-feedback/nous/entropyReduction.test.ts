import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { randomStream } from "../../../core/random.ts";
import { clarification } from "../../../worlds/clarification.ts";
import { type EntropyReductionOptions, entropyReduction, heardBelief } from "./entropyReduction.ts";

const intent = {
  slots: { size: ["v0", "v1", "v2", "v3"], colour: ["v0", "v1"], shape: ["v0", "v1"] },
  goal: { size: "v2", colour: "v0" },
  missing: ["size", "colour"],
};

async function gains(answers: readonly (string | undefined)[], options: EntropyReductionOptions = {}) {
  const ctx = ctxOf({ task: (id) => ({ id, prompt: [], metadata: intent, seed: 1 }) });
  const turns = answers.map((text) => turnOf([1], [2], text === undefined ? {} : { text }));
  const failed = { end: { kind: "failed", boundary: "model", message: "" } } as const;
  const trajectories = [trajectoryOf("t", turns), trajectoryOf("f", turns, failed)];
  const signals = await entropyReduction(options)(ctx, { trajectories, units: [] }, {});
  assert.deepEqual(
    signals.map(({ about, channel }) => [about[0], channel]),
    answers.map((_, turn) => [{ trajectory: "t", turn }, "entropy"]),
  );
  return signals.map((s) => (s.kind === "reward" ? s.value : Number.NaN));
}

const near = (got: readonly number[], want: readonly number[]): void => {
  assert.equal(got.length, want.length);
  got.forEach((x, i) => {
    assert.ok(Math.abs(x - want[i]!) < 1e-12, `[${i}] ${x}, not ${want[i]}`);
  });
};

test("an answer is worth the nats that it takes away, in closed form", async () => {
  // narrowed from 4 to 2, then to 1; nothing said; resolved; said again; a slot that does not matter
  const answers = ["size v1 or v2", "size v2", undefined, "colour v0", "colour v0", "shape v1"];
  const gained = await gains(answers);
  near(gained, [Math.LN2, Math.LN2, 0, Math.LN2, 0, 0]);
  near([gained.reduce((a, b) => a + b, 0)], [Math.log(8)]); // H(b[0]) − H(b[end]), whatever the order
  near(await gains(["size v2 colour v0"]), [Math.log(8)]); // several slots: their sum
  near(await gains(["not sure", "size", "v2", "size any"]), [0, 0, 0, 0]);
});

test("an answer that may be wrong is weighed, and one that contradicts what was heard takes certainty back", async () => {
  // told one colour, wrong once in four: b = (3/4, 1/4); told the other: back to (1/2, 1/2)
  const h = -(0.75 * Math.log(0.75) + 0.25 * Math.log(0.25));
  near(await gains(["colour v0", "colour v1"], { heard: heardBelief(0.25) }), [Math.LN2 - h, h - Math.LN2]);
});

test("the answers of users who are asked are read as they are given", async () => {
  const env = clarification({
    matters: [1, 1],
    complete: 0,
    said: 0,
    values: 4,
    smallTalk: 1,
    ends: "known",
  });
  const [task] = env.tasks("train");
  const episode = await env.start(task!, randomStream(1));
  const turns = [];
  for (const content of ["ask n0", "ask date", "ask date", "ask place"]) {
    const { text } = await episode.act({ content, stop: "eos" });
    turns.push(turnOf([1], [2], text === undefined ? {} : { text }));
  }
  const ctx = ctxOf({ task: () => task! });
  const signals = await entropyReduction()(ctx, { trajectories: [trajectoryOf("t", turns)], units: [] }, {});
  near(
    signals.map((s) => (s.kind === "reward" ? s.value : Number.NaN)),
    [0, Math.log(4), 0, Math.log(4)],
  );
});
