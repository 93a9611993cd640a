import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { sha256 } from "../../src/core/digest.ts";

test("SHA-256 of texts is that of FIPS 180-4 and of OpenSSL, around every block boundary", () => {
  assert.equal(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const texts = Array.from({ length: 140 }, (_, n) => "é".repeat(n % 3) + "x".repeat(n));
  for (const text of [...texts, "漢字 🙂".repeat(999)])
    assert.equal(sha256(text), hash("sha256", text), `${text.length}`);
});
