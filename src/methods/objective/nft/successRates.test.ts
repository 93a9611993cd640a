import assert from "node:assert/strict";
import { test } from "node:test";
import { obeys } from "../../../../test/advantage/laws.ts";
import { evidenceOf } from "../../../../test/core/make.ts";
import { rateColumn, successRates } from "./successRates.ts";

obeys("successRates", () => successRates(), []);

test("successes and rates, by hand; groups of one colour and of one are left out", () => {
  const { advantages, columns } = successRates().apply(
    evidenceOf([[1, 0.5, 0, 2], [1, 1], [0, 0.9], [1]]),
    null,
    undefined,
  );
  assert.deepEqual(
    [...advantages].map(([id, xs]) => [id, ...xs]),
    [
      ["0.0", 1, 1],
      ["0.1", 0, 0],
      ["0.2", 0, 0],
      ["0.3", 1, 1],
    ],
  );
  assert.deepEqual([...columns![rateColumn]!.keys()], ["0.0", "0.1", "0.2", "0.3"]);
  for (const xs of columns![rateColumn]!.values()) assert.deepEqual([...xs], [0.5, 0.5]);
});

test("what counts as a success can be said", () => {
  const { columns } = successRates({ threshold: 0.5 }).apply(evidenceOf([[1, 0.5, 0.4, 0]]), null, undefined);
  assert.equal(columns![rateColumn]!.get("0.0")![0], 0.5);
});
