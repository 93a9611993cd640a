import assert from "node:assert/strict";
import { test } from "node:test";
import { sayDiagnostics } from "../../web/src/parts/estimateWords.ts";

const even = { clusters: 40, effective: 38.2, heaviest: 0.031, unsupported: 0.02, meanWeightP: 0.6 };

test("an estimate says what it rests on, and what the log lacks only where that is no chance", () => {
  assert.equal(
    sayDiagnostics(even, "session"),
    "40 sessions with a reward, which weigh as much as 38.2 equal ones (the heaviest carries 3.1 %); nothing that it does seems to be missing from the log.",
  );
  assert.match(
    sayDiagnostics({ ...even, unsupported: 0.4, meanWeightP: 0.001 }, "user"),
    /about 40\.0 % of what it does was never logged\.$/,
  );
  assert.match(sayDiagnostics({ ...even, clusters: 1 }, "user"), /^1 user with/);
  // weights above 1 on average lack nothing
  assert.match(
    sayDiagnostics({ ...even, unsupported: 0, meanWeightP: 0.001 }, "user"),
    /missing from the log/,
  );
});
