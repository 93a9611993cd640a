import assert from "node:assert/strict";
import { test } from "node:test";
import { caseValue } from "./caseValue.ts";

const pair = (query: string, situation: string, success = true, cosine = 0.5) => ({
  query,
  situation,
  success,
  cosine,
});

test("before it has seen anything the value grows with the cosine", async () => {
  const value = caseValue()();
  // σ(0) = ½, σ(1) = 0.731
  const [none, all] = await value.predict([pair("a", "b", true, 0), pair("a", "b", true, 1)]);
  assert.equal(none, 0.5);
  assert.ok(Math.abs(all! - 0.731059) < 1e-6);
});

test("it learns which shared words help and which are shared by chance, also in pairs never seen", async () => {
  const value = caseValue({ passes: 300 })();
  const rows = Array.from({ length: 80 }, (_, i) => {
    const matters = i % 2 === 0;
    const chatter = `hello${i % 5} thanks${i % 3}`;
    const x = pair(`jam ${chatter}`, matters ? `jam other${i}` : `late ${chatter}`);
    return { x, y: Number(matters), weight: 1 };
  });
  const stats = await value.fit(rows);
  assert.ok(Math.abs(stats.accuracy! - 1) < 1e-9);
  const [good, chance] = await value.predict([
    pair("jam hello1 thanks2", "jam anything", true, 0.2),
    pair("jam hello1 thanks2", "late hello1 thanks2", true, 0.9),
  ]);
  assert.ok(good! > 0.7 && chance! < 0.3, `${good} and ${chance}`);
  const again = caseValue()();
  again.load(value.save());
  assert.deepEqual(await again.predict([pair("jam", "jam")]), await value.predict([pair("jam", "jam")]));
});
