import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhetstoneError } from "../../../src/core/errors.ts";
import { randomStream } from "../../../src/core/random.ts";
import { type Drawn, type DrawOptions, draw, type Scores } from "../../../src/engine/local/draw.ts";
import { near } from "./support.ts";

// p = 0.1, 0.4, 0.2, 0.3, whatever is added to the logits
const p = [0.1, 0.4, 0.2, 0.3];
const logits = Float32Array.from(p, (x) => Math.log(x) + 5);
type Options = DrawOptions & { allowed?: number[] };

/** What a decoder would say with these logits. */
function scoresOf(logits_V: Float32Array): Scores {
  const top = logits_V.reduce((a, b) => Math.max(a, b));
  const weights = Array.from(logits_V, (x) => Math.exp(x - top));
  const total = weights.reduce((a, b) => a + b);
  const p_V = Float32Array.from(weights, (w) => w / total);
  const entropy = weights.reduce((s, w) => s - (w > 0 ? (w / total) * Math.log(w / total) : 0), 0);
  return { logits_V, p_V, entropy };
}

const drawn = ({ allowed, ...options }: Options, u: number): Drawn =>
  draw(scoresOf(logits), options, allowed && Int32Array.from(allowed), u);

/** The id at the middle of each of 1,000 equal parts of [0, 1). */
function shares(options: Options): number[] {
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < 1000; i++) counts[drawn(options, (i + 0.5) / 1000).id]!++;
  return counts.map((n) => n / 1000);
}

// kept probabilities, worked out by hand
const root = p.map(Math.sqrt);
const rootSum = root.reduce((a, b) => a + b, 0);
const cases: readonly [what: string, options: Options, want: readonly number[]][] = [
  ["nothing", {}, p],
  ["temperature 1", { temperature: 1 }, p],
  ["temperature 2", { temperature: 2 }, root.map((x) => x / rootSum)],
  // squares 0.01, 0.16, 0.04, 0.09 of 0.3
  ["temperature 0.5", { temperature: 0.5 }, [1 / 30, 16 / 30, 4 / 30, 9 / 30]],
  ["topK 2", { topK: 2 }, [0, 4 / 7, 0, 3 / 7]],
  ["topK 9", { topK: 9 }, p],
  // 0.4 + 0.3 reaches 0.65, 0.4 alone does not
  ["topP 0.65", { topP: 0.65 }, [0, 4 / 7, 0, 3 / 7]],
  ["topP 0.75", { topP: 0.75 }, [0, 4 / 9, 2 / 9, 3 / 9]],
  ["topP 1", { topP: 1 }, p],
  ["a tiny topP", { topP: 1e-9 }, [0, 1, 0, 0]],
  // 0.75 of 0.4 is 0.3, which float32 may miss
  ["minP 0.7", { minP: 0.7 }, [0, 4 / 7, 0, 3 / 7]],
  ["minP 0", { minP: 0 }, p],
  ["minP 1", { minP: 1 }, [0, 1, 0, 0]],
  // squares: 0.04 is a quarter of 0.16
  ["temperature 0.5 and minP 0.3", { temperature: 0.5, minP: 0.3 }, [0, 16 / 25, 0, 9 / 25]],
  ["topP 0.65 and minP 0.9", { topP: 0.65, minP: 0.9 }, [0, 1, 0, 0]],
  ["allowed", { allowed: [0, 2] }, [1 / 3, 0, 2 / 3, 0]],
  // of the three most probable, 4/9 + 3/9 reaches 0.7
  ["topK 3 and topP 0.7", { topK: 3, topP: 0.7 }, [0, 4 / 7, 0, 3 / 7]],
  ["allowed and topK 1", { allowed: [0, 2], topK: 1 }, [0, 0, 1, 0]],
  ["all of them", { allowed: [0, 1, 2], temperature: 0.5, topK: 2, topP: 0.9 }, [0, 16 / 20, 4 / 20, 0]],
];
const entropy = -p.reduce((s, x) => s + x * Math.log(x), 0);

for (const [what, options, want] of cases) {
  test(`draw with ${what}: shares, log-probability of the full distribution, behaviour of the narrowed`, () => {
    near(shares(options), want, 2e-3, "shares");
    for (const u of [0, 0.2, 0.5, 0.8, 1 - 2 ** -32]) {
      const d = drawn(options, u);
      near([d.logp], [Math.log(p[d.id]!)], 1e-6, "logp");
      near([d.behaviour], [Math.log(want[d.id]!)], 1e-6, "behaviour");
      near([d.entropy], [entropy], 1e-6, "entropy");
    }
  });
}

test("draw gives the behaviour as the very number of logp where nothing narrows the choice", () => {
  for (const u of [0.05, 0.3, 0.6, 0.9]) assert.equal(drawn({}, u).behaviour, drawn({}, u).logp);
});

test("draw at temperature 0 takes the most probable id, the lowest on a tie, with behaviour 0", () => {
  const tied = Float32Array.of(1, 3, 2, 3);
  for (const u of [0, 0.5, 0.99]) {
    const d = draw(scoresOf(tied), { temperature: 0 }, undefined, u);
    assert.equal(d.id, 1);
    assert.equal(d.behaviour, 0);
    const among = draw(scoresOf(tied), { temperature: 0 }, Int32Array.of(2, 3), u);
    assert.equal(among.id, 3);
    assert.equal(draw(scoresOf(tied), { temperature: 0 }, Int32Array.of(0, 1, 3), u).id, 1);
  }
});

test("draw keeps the lower id where topK cuts through a tie", () => {
  const tied = Float32Array.of(0, 1, 1, 1);
  const ids = new Set(
    Array.from({ length: 50 }, (_, i) => draw(scoresOf(tied), { topK: 2 }, undefined, (i + 0.5) / 50).id),
  );
  assert.deepEqual([...ids].sort(), [1, 2]);
});

test("draw stays finite where logits are far apart", () => {
  const far = Float32Array.of(-800, 0, 700);
  for (const options of [{}, { temperature: 0.3 }, { topP: 0.9 }]) {
    const d = draw(scoresOf(far), options, undefined, 1 - 2 ** -32);
    assert.equal(d.id, 2);
    near([d.logp, d.behaviour, d.entropy], [0, 0, 0], 1e-6);
  }
});

test("draw refuses logits that make no distribution, and takes a −∞ as impossible", () => {
  const none = Number.NEGATIVE_INFINITY;
  for (const row of [
    [0, Number.NaN, 1],
    [0, Number.POSITIVE_INFINITY, 1],
    [none, none, none],
    [Number.NaN, Number.NaN, Number.NaN],
  ]) {
    for (const options of [{}, { temperature: 0 }, { temperature: 0.5 }, { topK: 2 }]) {
      assert.throws(
        () => draw(scoresOf(Float32Array.from(row)), options, undefined, 0.5),
        (e) => isWhetstoneError(e) && e.code === "engine.failed",
      );
    }
  }
  const partly = Float32Array.of(none, 0, none);
  assert.throws(
    () => draw(scoresOf(partly), {}, Int32Array.of(0, 2), 0.5),
    (e) => isWhetstoneError(e) && e.code === "engine.failed",
  );
  assert.deepEqual(draw(scoresOf(partly), {}, undefined, 0.5), { id: 1, logp: 0, behaviour: 0, entropy: 0 });
});

test("draw follows its frequencies over a random stream", () => {
  const random = randomStream("frequencies");
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < 20_000; i++) counts[drawn({}, random.next()).id]!++;
  // four standard deviations of a share are at most 0.014
  near(
    counts.map((n) => n / 20_000),
    p,
    0.014,
  );
});

/** The same by sorting everything. */
function plainly({ logits_V }: Scores, { temperature = 1, topK, topP, minP }: DrawOptions): Set<number> {
  const top = logits_V.reduce((a, b) => Math.max(a, b));
  const weight = (id: number): number => Math.exp((logits_V[id]! - top) / temperature);
  let ids = Array.from(logits_V.keys()).sort((a, b) => logits_V[b]! - logits_V[a]! || a - b);
  ids = ids.slice(0, topK);
  if (topP !== undefined) {
    const enough = topP * ids.reduce((s, id) => s + weight(id), 0);
    let mass = 0;
    const reached = ids.findIndex((id) => (mass += weight(id)) >= enough);
    ids = ids.slice(0, reached + 1);
  }
  return new Set(ids.filter((id) => minP === undefined || weight(id) >= minP));
}

test("draw keeps what sorting the whole vocabulary would keep, of many ids, ties and far tails among them", () => {
  const random = randomStream("partial selection");
  for (let round = 0; round < 60; round++) {
    const spread = [0.5, 3, 20][round % 3]!;
    const row = Float32Array.from({ length: 3000 }, () => Math.round(spread * random.normal() * 8) / 8);
    const options: DrawOptions = {
      temperature: [0.4, 1.5][round % 2]!,
      ...(round % 5 === 0 ? {} : { topK: 1 + random.below(2 * 10 ** (round % 4)) }),
      ...(round % 4 === 0 ? {} : { topP: 0.05 + 0.9 * random.next() }),
      ...(round % 7 === 0 ? { minP: 0.05 * random.next() } : {}),
    };
    const scores = scoresOf(row);
    const kept = plainly(scores, options);
    let share = 0;
    for (const id of kept)
      share += Math.exp((row[id]! - row.reduce((a, b) => Math.max(a, b))) / options.temperature!);
    for (const u of [0, 0.3, 0.6, 1 - 2 ** -32]) {
      const d = draw(scores, options, undefined, u);
      assert.ok(kept.has(d.id), JSON.stringify(options));
      const w = Math.exp((row[d.id]! - row.reduce((a, b) => Math.max(a, b))) / options.temperature!);
      near([d.behaviour], [Math.log(w / share)], 1e-5, JSON.stringify(options));
    }
  }
});
