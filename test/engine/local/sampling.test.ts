// What `sample` says about its tokens, and how it ends.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pairRows } from "../../../src/common/tokens/pack.ts";
import { concatIds } from "../../../src/common/tokens/sequence.ts";
import type { Model, Sample, SampleRequest } from "../../../src/core/model.ts";
import { referenceLogp } from "./reference.ts";
import { bench, bitsOf, codec, failsWith, near, rowsOf } from "./support.ts";

const request = (prompt: readonly number[], more: Partial<SampleRequest> = {}): SampleRequest => ({
  prompt: Int32Array.from(prompt),
  maxTokens: 12,
  seed: 1,
  ...more,
});

/** No end before the limit: every id but the end's is allowed. */
const endless = Array.from({ length: 64 }, () =>
  Int32Array.from({ length: codec.vocabulary }, (_, id) => id).filter((id) => id !== codec.endId),
);

async function agreesWithScore(model: Model, prompt: Int32Array, sample: Sample): Promise<void> {
  const scored = await model.score(pairRows([{ prompt, target: sample.action }]), { entropy: true });
  near(sample.logp, scored.logp, 1e-4, "logp");
  near(sample.entropy!, scored.entropy!, 1e-4, "entropy");
}

test("sample and score agree about log-probabilities and entropies, prompts of all lengths", async () => {
  await using engine = bench();
  const { model } = await engine.make();
  const requests = [1, 2, 31, 32, 33, 50].map((length, seed) =>
    request(
      Array.from({ length }, (_, i) => (i * 11 + seed) % codec.vocabulary),
      { seed },
    ),
  );
  const samples = await model.sample(requests);
  for (const [i, sample] of samples.entries()) {
    await agreesWithScore(model, requests[i]!.prompt, sample);
    assert.deepEqual(sample.behaviour, sample.logp, "nothing narrowed the choice");
    assert.equal(sample.version, model.version);
    assert.equal(sample.stop === "eos", sample.action.at(-1) === codec.endId);
  }
});

test("sample and score agree over a conversation of several turns", async () => {
  await using engine = bench();
  const { model } = await engine.make({ contextTokens: 96 });
  let sequence = codec.open([{ role: "user", content: "w1 w2 w3" }]);
  const turns: { prompt: Int32Array; sample: Sample }[] = [];
  for (let turn = 0; turn < 4; turn++) {
    const [sample] = await model.sample([request([...sequence], { seed: turn, maxTokens: 6 })]);
    turns.push({ prompt: sequence, sample: sample! });
    const said = codec.extend(sample!.stop, [{ role: "user", content: `w${turn} w9` }]);
    sequence = concatIds([sequence, sample!.action, said]);
  }
  const whole = await model.score(rowsOf([[...sequence]]));
  for (const { prompt, sample } of turns) {
    // targets begin at the second token
    const from = prompt.length - 1;
    near(sample.logp, whole.logp.subarray(from, from + sample.action.length), 1e-4);
  }
});

test("sample keeps the full distribution's logp where options narrow the choice", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const prompt = [4, 9, 5];
  const allowed = Array.from({ length: 12 }, () => Int32Array.of(8, 9, 10));
  const narrowed: Partial<SampleRequest>[] = [
    { temperature: 0.5 },
    { topK: 3 },
    { topP: 0.5 },
    { allowed },
    { temperature: 0 },
  ];
  const samples = await model.sample(narrowed.map((more) => request(prompt, more)));
  for (const [i, sample] of samples.entries()) {
    await agreesWithScore(model, Int32Array.from(prompt), sample);
    const higher = [...sample.behaviour].filter((b, t) => b > sample.logp[t]!).length;
    assert.ok(higher > 0, JSON.stringify(narrowed[i]));
  }
  assert.ok(samples[3]!.action.every((id) => [8, 9, 10].includes(id)));
  assert.ok(samples[4]!.behaviour.every((b) => b === 0));
});

test("sample at temperature 0 takes what a float64 decoder ranks first, whatever the seed", async () => {
  await using engine = bench();
  const { model, weights, config } = await engine.make();
  const [a, b] = await model.sample([
    request([4, 8, 5], { temperature: 0, seed: 1 }),
    request([4, 8, 5], { temperature: 0, seed: 2 }),
  ]);
  assert.equal(bitsOf(a!), bitsOf(b!));
  const tokens = [4, 8, 5, ...a!.action];
  const logp = referenceLogp(config, weights, tokens);
  a!.action.forEach((id, i) => {
    const row = logp[2 + i]!;
    assert.equal(id, row.indexOf(Math.max(...row)));
  });
});

test("sample draws as often as the model says", async () => {
  await using engine = bench();
  const { model, weights, config } = await engine.make({ layers: 1 });
  const n = 2000;
  const samples = await model.sample(
    Array.from({ length: n }, (_, seed) => request([4, 8, 5], { maxTokens: 1, seed })),
  );
  const p = referenceLogp(config, weights, [4, 8, 5]).at(-1)!.map(Math.exp);
  const counts = new Array<number>(config.vocabulary).fill(0);
  for (const { action } of samples) counts[action[0]!]!++;
  // chi-square of 30 degrees of freedom stays below 60 in 999 of 1,000 cases
  const chi = counts.reduce((s, k, id) => s + (k - n * p[id]!) ** 2 / (n * p[id]!), 0);
  assert.ok(chi < 60, `chi-square ${chi}`);
});

test("copies made before a model was first asked to end with a text end with one as well, and a step stays behind", async () => {
  await using engine = bench();
  const { model } = await engine.make();
  const [w1, w2] = [codec.encode("w1")[0]!, codec.encode("w2")[0]!];
  const allowed = [w1, w1, w2, w1].map((id) => Int32Array.of(id));
  const ending = [request([4, 8], { allowed, stop: ["w1 w2"] })];
  const [frozen, fork] = [await model.freeze(), await model.fork("fresh")];
  const sampling = model.sample(ending);
  const step = model.step({ learningRate: 0.1 });
  const before = await sampling;
  await step;
  assert.deepEqual([before[0]!.stop, before[0]!.version], ["stop", "0"]);
  for (const copy of [frozen, fork]) assert.deepEqual(await copy.sample(ending), before);
});

test("sample ends at its limit, at the context's, at the end token and at a stop string", async () => {
  await using engine = bench();
  const { model } = await engine.make({ contextTokens: 20 });
  const force = (ids: readonly number[]): Int32Array[] => ids.map((id) => Int32Array.of(id));
  const [w1, w2, w12] = ["w1", "w2", "w12"].map((word) => codec.encode(word)[0]!);
  const [short, full, ended, stopped, across] = await model.sample([
    request([4, 8], { maxTokens: 3, allowed: endless }),
    request([4, 8, 5], { maxTokens: 500, allowed: endless }),
    request([4, 8], { allowed: force([w1!, codec.endId, w1!]) }),
    request([4, 8], { allowed: force([w1!, w12!, w2!]), stop: ["nowhere", "w12"] }),
    request([4, 8], { allowed: force([w1!, w1!, w2!, w1!]), stop: ["w1 w2"] }),
  ]);
  assert.deepEqual([short!.stop, short!.action.length], ["length", 3]);
  assert.deepEqual([full!.stop, full!.action.length], ["length", 17]);
  assert.deepEqual([ended!.stop, [...ended!.action]], ["eos", [w1, codec.endId]]);
  assert.deepEqual([stopped!.stop, [...stopped!.action]], ["stop", [w1, w12]]);
  assert.deepEqual([across!.stop, across!.action.length], ["stop", 3]);
  for (const s of [short!, full!, ended!, stopped!, across!]) {
    const n = s.action.length;
    assert.deepEqual([s.logp.length, s.behaviour.length, s.entropy!.length], [n, n, n]);
  }
  assert.deepEqual(await model.sample([]), []);
});

test("sample ends at stop tokens, and sees stop strings that lie far into a reply", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const [w1, w2, w3] = ["w1", "w2", "w3"].map((word) => codec.encode(word)[0]!);
  const force = (ids: readonly number[]): Int32Array[] => ids.map((id) => Int32Array.of(id));
  const late = [...new Array<number>(40).fill(w1!), w2!, w3!, w1!];
  const [token, end, text] = await model.sample([
    request([4, 8], { allowed: force([w1!, w2!, w3!]), stopTokens: [w2!] }),
    request([4, 8], { allowed: force([w1!, codec.endId]), stopTokens: [codec.endId] }),
    request([4, 8], { allowed: force(late), maxTokens: 60, stop: ["w2 w3"] }),
  ]);
  assert.deepEqual([token!.stop, [...token!.action]], ["stop", [w1, w2]]);
  assert.equal(end!.stop, "eos");
  assert.deepEqual([text!.stop, text!.action.length], ["stop", 42]);
});

test("sample among choices writes one of them, as often as the renormalised probabilities say", async () => {
  await using engine = bench();
  const { model, weights, config } = await engine.make({ layers: 1 });
  const prompt = [4, 8, 5];
  const choices = [[9, 10], [9, 12, 8], [20], [11, codec.endId]].map((ids) => Int32Array.from(ids));
  const n = 1500;
  const samples = await model.sample(
    Array.from({ length: n }, (_, seed) => request(prompt, { choices, seed })),
  );
  // p(9), p(20), p(11) of what is allowed first; then p(10) against p(12) after a 9
  const first = referenceLogp(config, weights, prompt).at(-1)!;
  const then = referenceLogp(config, weights, [...prompt, 9]).at(-1)!;
  const share = (logp: readonly number[], id: number, of: readonly number[]): number =>
    Math.exp(logp[id]!) / of.reduce((sum, other) => sum + Math.exp(logp[other]!), 0);
  const nine = share(first, 9, [9, 11, 20]);
  const want = [
    nine * share(then, 10, [10, 12]),
    nine * share(then, 12, [10, 12]),
    share(first, 20, [9, 11, 20]),
    share(first, 11, [9, 11, 20]),
  ];
  const counts = choices.map((ids) => samples.filter((s) => s.action.join() === ids.join()).length);
  assert.equal(
    counts.reduce((a, b) => a + b),
    n,
  );
  // four standard deviations of a share are at most 0.052
  near(
    counts.map((k) => k / n),
    want,
    0.052,
  );
  const [sample] = samples.filter((s) => s.action.length === 3);
  await agreesWithScore(model, Int32Array.from(prompt), sample!);
  near([sample!.behaviour[0]!], [Math.log(nine)], 1e-4);
  near([sample!.behaviour[2]!], [0], 1e-9, "no choice left");
  assert.deepEqual(
    sample!.allowed?.map((ids) => [...ids]),
    [[9, 11, 20], [10, 12], [8]],
  );
  assert.deepEqual(
    [sample!.stop, samples.find((s) => s.action.at(-1) === codec.endId)?.stop],
    ["stop", "eos"],
  );
});

test("sample refuses a prompt that leaves no room; others of the same moment are answered", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1, contextTokens: 16 });
  const good = request([4, 8, 5]);
  const alone = await model.sample([good]);
  const long = request(new Array<number>(16).fill(8));
  const tooLong = failsWith("context.tooLong", /a prompt of 16 tokens, expected 1 to 15/);
  const [a, b, c] = await Promise.allSettled([
    model.sample([good]),
    model.sample([good, long]),
    model.sample([good]),
  ]);
  assert.equal(b.status, "rejected");
  tooLong(b.status === "rejected" && b.reason);
  for (const other of [a, c]) {
    assert.equal(other.status, "fulfilled");
    assert.equal(other.status === "fulfilled" && bitsOf(other.value[0]!), bitsOf(alone[0]!));
  }
  await assert.rejects(model.sample([request([])]), failsWith("context.tooLong", /a prompt of 0 tokens/));
});

test("sample refuses options out of their range", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const wrong: Partial<SampleRequest>[] = [
    { maxTokens: 0 },
    { maxTokens: 1.5 },
    { temperature: -1 },
    { temperature: Number.NaN },
    { topK: 0 },
    { topP: 0 },
    { topP: 1.2 },
    { minP: -0.1 },
    { minP: 2 },
    { choices: [] },
    { choices: [Int32Array.of()] },
    { choices: [Int32Array.of(4), Int32Array.of(4, 8)] },
    { choices: [Int32Array.of(4)], allowed: [Int32Array.of(4)] },
    { allowed: [Int32Array.of(4), Int32Array.of()] },
  ];
  for (const more of wrong) {
    await assert.rejects(
      model.sample([request([4, 8], more)]),
      failsWith("option.range"),
      JSON.stringify(more),
    );
  }
});
