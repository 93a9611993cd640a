import { strict as assert } from "node:assert";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { differentiate } from "../../src/tensor/differentiate.ts";
import { mul } from "../../src/tensor/ops/mul.ts";
import { sum } from "../../src/tensor/ops/sum.ts";
import { evaluate } from "../../src/tensor/reference.ts";
import { feedFor, near, runOnce, weights } from "./support.ts";
import { type Case, table } from "./table.ts";

test("every op file stands in the table", () => {
  const files = readdirSync(new URL("../../src/tensor/ops/", import.meta.url)).map((f) =>
    f.replace(".ts", ""),
  );
  assert.deepEqual([...new Set(table.map((c) => c.file))].sort(), files.sort());
});

const feedsOf = (c: Case) => new Map(c.arguments.map((a) => [a.tensor, a.data.map(Math.fround)]));
const typedFeeds = (c: Case) =>
  Object.fromEntries(c.arguments.map((a) => [a.tensor.name!, feedFor(a.tensor, a.data)]));

for (const c of table) {
  test(`${c.file}, ${c.label}: ONNX Runtime agrees with the float64 reference`, async () => {
    const [want] = evaluate([c.result], feedsOf(c));
    const { y } = await runOnce(
      c.arguments.map((a) => a.tensor),
      { y: c.result },
      typedFeeds(c),
    );
    near(y!, want!, 1e-4);
  });
  if (c.gradients.length === 0) continue;
  test(`${c.file}, ${c.label}: the gradient agrees with finite differences and with ONNX Runtime`, async () => {
    const cotangent = weights(c.result);
    const wrt = c.gradients.map((i) => c.arguments[i]!.tensor);
    const gradients = differentiate([{ of: c.result, cotangent }], wrt);
    const exact = evaluate(gradients, feedsOf(c));
    const loss = sum(mul(c.result, cotangent));
    for (const [k, x] of wrt.entries()) {
      const at = feedsOf(c).get(x)!;
      const step = 1e-5;
      const lossWith = (i: number, shift: number): number =>
        evaluate([loss], feedsOf(c).set(x, at.with(i, at[i]! + shift)))[0]![0]!;
      const numeric = at.map((_, i) => (lossWith(i, step) - lossWith(i, -step)) / (2 * step));
      near(exact[k]!, numeric, 1e-6, `gradient of argument ${k}`);
    }
    const outputs = Object.fromEntries(gradients.map((g, k) => [`g${k}`, g]));
    const got = await runOnce(
      c.arguments.map((a) => a.tensor),
      outputs,
      typedFeeds(c),
    );
    gradients.forEach((_, k) => {
      near(got[`g${k}`]!, exact[k]!, 1e-3, `gradient of argument ${k}`);
    });
  });
}
