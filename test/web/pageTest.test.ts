import assert from "node:assert/strict";
import { describe } from "node:test";
import { messageOf } from "../../src/core/errors.ts";
import { noBrowser } from "../browser.ts";
import { browser, onOnePage, pageTest, within } from "../pageTest.ts";

describe("pages that do not answer", { skip: noBrowser }, () => {
  const opened: string[] = [];
  const test = onOnePage((page) => opened.push(page.url()));

  test("what waits for an answer that never comes fails, and says what it was", async (page) => {
    const never = within(500, () => page.evaluate("new Promise(() => {})"));
    await assert.rejects(never, (e: Error) => {
      assert.match(e.message, /^not done after 0\.5 s.*page\.evaluate/);
      assert.match(e.cause instanceof Error ? (e.cause.stack ?? "") : "", /pageTest\.test\.ts/);
      return true;
    });
    assert.ok(page.isClosed());
  });

  test("the next one has another page, and what fails in time fails as it is", async (page) => {
    assert.equal(await page.evaluate("1 + 1"), 2);
    assert.deepEqual(opened, ["about:blank", "about:blank"]);
    await assert.rejects(
      within(20_000, () => page.evaluate("thrown")),
      (e) => !messageOf(e).startsWith("not done"),
    );
    assert.ok(!page.isClosed());
  });

  pageTest("what comes in time is given, with the pages as they were", async () => {
    const page = await (await browser()).newPage();
    assert.equal(await within(20_000, () => page.evaluate("2 + 2")), 4);
    assert.ok(!page.isClosed());
    await page.close();
  });
});
