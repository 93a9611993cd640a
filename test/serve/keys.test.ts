import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import type { AccessKey } from "../../src/core/served.ts";
import { isLive, isOurs, matchKey, mintKey, readToken, signToken } from "../../src/serve/keys.ts";

const mint = () => mintKey({ label: "app", scopes: ["chat"] }, 1000);
const among =
  (...keys: readonly AccessKey[]) =>
  (id: string) =>
    keys.find((k) => k.id === id);

test("of a key only its SHA-256 is kept, and its secret has 256 random bits", () => {
  const { secret, key } = mint();
  assert.match(secret, /^wst_[0-9a-f]{16}_[\w-]{43}$/);
  assert.equal(Buffer.from(secret.slice(-43), "base64url").length, 32);
  assert.equal(key.hash, createHash("sha256").update(secret).digest("hex"));
  assert.ok(!JSON.stringify(key).includes(secret.slice(-43)));
  assert.notEqual(mint().secret, secret);
});

test("a key is found by its whole secret alone", () => {
  const [a, b] = [mint(), mint()];
  const find = among(a.key, b.key);
  assert.equal(matchKey(a.secret, find), a.key);
  const swapped = `wst_${a.key.id}_${b.secret.slice(-43)}`;
  const last = a.secret.endsWith("A") ? "E" : "A";
  for (const wrong of [swapped, a.secret.slice(0, -1) + last, `${a.secret}x`, "", "wst_", a.key.hash]) {
    assert.equal(matchKey(wrong, find), undefined, wrong);
  }
  // the empty digest of nobody opens nothing
  assert.equal(matchKey("wst_0000000000000000_", find), undefined);
});

test("revoked and expired keys are dead, from that very millisecond on", () => {
  const { key } = mintKey({ label: "", scopes: [], expires: 2000 }, 1000);
  assert.equal(isLive(key, 1999), true);
  assert.equal(isLive(key, 2000), false);
  assert.equal(isLive({ ...key, revoked: 1500 }, 1600), false);
});

test("a signed token says what was signed, and nothing else passes", () => {
  const signing = randomBytes(32);
  const token = { key: "k1", expires: 5000, only: { session: "s/ä", user: "u" } };
  const signed = signToken(token, signing);
  assert.deepEqual(readToken(signed, signing), token);
  assert.equal(readToken(signed, randomBytes(32)), undefined);
  const forged = Buffer.from(JSON.stringify({ x: 9e15, s: "another" })).toString("base64url");
  assert.equal(readToken(`wsb_${forged}.${signed.split(".")[1]}`, signing), undefined);
  for (let i = 0; i < signed.length; i++) {
    const changed = signed.slice(0, i) + (signed[i] === "B" ? "C" : "B") + signed.slice(i + 1);
    // the last character of 43 carries two bits that stand for nothing: only there may a change pass
    if (i < signed.length - 1) assert.equal(readToken(changed, signing), undefined, `at ${i}`);
  }
});

test("what is ours is told by its beginning", () => {
  assert.equal(isOurs(mint().secret), true);
  assert.equal(isOurs(signToken({ expires: 1, only: {} }, randomBytes(32))), true);
  assert.equal(isOurs("sk-proj-abc"), false);
});
