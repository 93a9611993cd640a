import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { noBrowser } from "../browser.ts";
import { onOnePage } from "../pageTest.ts";
import { folder } from "../train/world.ts";
import { type Peopled, settled, showPeopled, watched } from "./world.ts";

describe("on a phone", { skip: noBrowser }, () => {
  const root = folder();
  let shown: Peopled;
  let bad: readonly string[];

  before(async () => {
    shown = await showPeopled(root);
  });
  after(() => shown?.close());
  const test = onOnePage((page) => {
    page.setDefaultTimeout(20_000);
    bad = watched(page, shown.url);
  });

  test("one walks from the runs to a run, its episodes, and another place through the menu", async (page) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(shown.url);
    await settled(page);
    const menu = page.locator("button.places");
    assert.equal(await menu.getAttribute("aria-expanded"), "false");
    assert.equal(await page.getByRole("link", { name: "Inbox" }).isVisible(), false);
    await page.getByRole("link", { name: "local" }).click();
    await page.getByRole("region", { name: "Result" }).waitFor();
    await page.getByRole("link", { name: "Episodes", exact: true }).click();
    await page.getByRole("heading", { name: "Episodes" }).waitFor();
    await menu.click();
    await page.getByRole("link", { name: "Inbox" }).click();
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    assert.equal(await menu.innerText(), "Inbox ▾");
    assert.equal(await menu.getAttribute("aria-expanded"), "false");
    assert.deepEqual(bad, []);
  });

  test("a table is a list of cards, in which each value stands beside the name of its column", async (page) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${shown.url}/versions`);
    await settled(page);
    const label = await page.evaluate<string>(`(() => {
      const cell = document.querySelector("td[data-label=Share]");
      return getComputedStyle(cell, "::before").content + " " + cell.innerText;
    })()`);
    assert.equal(label, '"Share" 50 %');
    const right = await page.evaluate<number>(
      "Math.max(...[...document.querySelectorAll('main tbody :is(td, th)')].map((c) => c.getBoundingClientRect().right))",
    );
    assert.ok(right <= 390, `${right} px`);
    assert.deepEqual(bad, []);
  });
});
