import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const files = readdirSync(import.meta.dirname).filter((name) => !name.endsWith(".test.ts"));

test("contracts: twelve very different methods fit the types", () => assert.equal(files.length, 12));

for (const file of files) {
  test(`contracts: ${file} loads, is short and needs no cast`, async () => {
    const text = readFileSync(`${import.meta.dirname}/${file}`, "utf8");
    const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    assert.ok(text.split("\n").length <= 80);
    assert.doesNotMatch(code, /\bas (?!const\b)|\bany\b|@ts-|<unknown>/);
    // a non-null mark only after an array read
    assert.doesNotMatch(code, /[^\]]![.;,)\s](?!=)/);
    await import(`./${file}`);
  });
}
