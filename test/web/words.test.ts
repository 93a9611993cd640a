import assert from "node:assert/strict";
import { test } from "node:test";
import { percent, shareRange } from "../../web/src/parts/words.ts";

test("a share with its interval says per cent once, and stays within what a share can be", () => {
  assert.equal(`${percent(0.5)} ${shareRange({ low: -0.1, high: 1.2 })}`, "50.0 % [0.0, 100.0]");
  assert.equal(shareRange({ low: null, high: null }), "");
});
