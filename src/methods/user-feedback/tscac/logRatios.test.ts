import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { logRatios } from "./logRatios.ts";

test("logRatios is worked by hand: per turn, against what was drawn from, with a floor", async () => {
  // the end, a and b may be written; a has odds 2 : 1 : 1, so p(a) = 1/2, p(b) = 1/4
  const model = await tabularEngine({ prior: (_context, word) => (word === "a" ? Math.log(2) : 0) }).create({
    id: "like",
    seed: 1,
    vocabulary: ["a b"],
    contextTokens: 20,
  });
  const [a, b] = ["a", "b"].map((word) => model.codec.encode(word)[0]!);
  const tokensOf = (action: readonly number[], drawn: readonly number[]) => {
    const behaviour = Float32Array.from(drawn, Math.log);
    return { prompt: Int32Array.of(1, 2), action: Int32Array.from(action), logp: behaviour, behaviour };
  };
  const { tokens: _none, ...wordless } = turnOf([], []);
  const t = trajectoryOf("t", [
    turnOf([], [], { tokens: tokensOf([a!, b!], [0.25, 0.5]) }), // ln(½ / ¼) + ln(¼ / ½) = 0
    turnOf([], [], { tokens: tokensOf([a!], [0.001]) }), // drawn at the floor of 0.01: ln 50
    wordless,
    turnOf([], [], { tokens: tokensOf([b!], [Number.NaN]) }),
  ]);
  const experience = { trajectories: [t], units: [] };
  const ctx = ctxOf({ model: () => model });
  const notes = await logRatios({ of: { model: "like" } })(ctx, experience);
  const [even, rare, ...unknown] = notes["like.ratio"]!.get("t")!;
  assert.ok(Math.abs(even!) < 1e-6 && Math.abs(rare! - Math.log(50)) < 1e-5, `${even} ${rare}`);
  assert.deepEqual(unknown, [Number.NaN, Number.NaN]);
  const frozen = await model.freeze();
  const same = await logRatios({ of: { frozen: "like" }, note: "n" })(
    ctxOf({ frozen: () => frozen }),
    experience,
  );
  assert.deepEqual(same.n, notes["like.ratio"]);
});
