// examples/browser on Chromium's software adapter, until the transformer serves some of its guests: 12 iterations came to 0.59. Takes minutes where others compute too.
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { noBrowser } from "../browser.ts";
import { ends, learnt, servedPage } from "./learningPage.ts";

/** On two cores it takes three minutes and more, a tenth of all tests. That the kernels compute and learn there, learning.test.ts shows. */
const skip =
  noBrowser || (availableParallelism() < 4 && "a software adapter takes minutes on fewer than four cores");

test("on a software adapter the transformer begins to learn the recipes", { skip }, async (t) => {
  const served = await servedPage();
  try {
    const page = await served.browser.newPage();
    const status = await learnt(page, `${served.url}?software&iterations=12&seed=3&attempts=8`, 500_000);
    if (/Plain tables/.test(status)) return t.skip(`no adapter in this browser: ${status}`);
    const { first, last } = await ends(page);
    assert.ok(first < 0.2 && last > 0.3, `${first} to ${last}`);
  } finally {
    await served.close();
  }
});
