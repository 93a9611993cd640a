import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogue } from "../../src/methods/catalogue.ts";
import { equationParts, type Part } from "../../web/src/parts/equationParts.ts";

const back = (parts: readonly Part[]): string =>
  parts.map((p) => ("mark" in p ? `${p.mark}${p.text}${p.close}` : p.text)).join("");

test("indices go down, exponents up, single letters are variables, names are not", () => {
  assert.deepEqual(equationParts("A_i = γ^(j − k) mean(R)"), [
    { kind: "variable", text: "A" },
    { kind: "sub", mark: "_", text: "i", close: "" },
    { kind: "text", text: " = " },
    { kind: "variable", text: "γ" },
    { kind: "sup", mark: "^(", text: "j − k", close: ")" },
    { kind: "text", text: " " },
    { kind: "text", text: "mean" },
    { kind: "text", text: "(" },
    { kind: "variable", text: "R" },
    { kind: "text", text: ")" },
  ]);
});

test("a remark after blanks is told from the formula", () => {
  const parts = equationParts("h = ln π(w)          w: preferred, l: other");
  assert.deepEqual(parts.at(-1), { kind: "said", text: "w: preferred, l: other" });
});

test("every equation of the catalogue can be copied as it was written", () => {
  for (const { id, equation } of catalogue) {
    for (const line of equation?.split("\n") ?? []) assert.equal(back(equationParts(line)), line, id);
  }
});
