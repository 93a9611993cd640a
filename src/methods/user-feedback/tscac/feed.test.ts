import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { feed, receptionOf } from "./feed.ts";

obeysTheLaws(() => feed(), { garbage: 0.2, flawed: [0, 0] });

test("feed: what is watched longest is hardly liked, and some clip is liked everywhere", () => {
  for (const task of feed({ situations: 20 }).tasks("train")) {
    const receptions = receptionOf(task);
    const longest = receptions.reduce((a, b) => (b.watch > a.watch ? b : a));
    assert.equal(longest.like, 0.01);
    assert.ok(receptions.some(({ like }) => like >= 0.05));
    assert.ok(receptions.every(({ like }) => like >= 0.01 && like <= 0.1));
  }
});
