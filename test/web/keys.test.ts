import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { noBrowser } from "../browser.ts";
import { onOnePage } from "../pageTest.ts";
import { folder } from "../train/world.ts";
import { type Peopled, settled, showPeopled, watched, word } from "./world.ts";

describe("keys, and what they find", { skip: noBrowser }, () => {
  const root = folder();
  let shown: Peopled;
  let bad: readonly string[];

  before(async () => {
    shown = await showPeopled(root);
    const comment = (id: string, text: string, user: string) => ({
      kind: "signal" as const,
      signal: word({ id, text, user, at: Date.now() + 1000, received: Date.now() + 1000 }),
    });
    await shown.production.write([comment("c1", "too long", "ann"), comment("c2", "too short", "bob")]);
  });
  after(() => shown?.close());
  const test = onOnePage((page) => {
    page.setDefaultTimeout(20_000);
    bad = watched(page, shown.url);
  });

  test("the inbox is filtered by its address, and worked through without a mouse", async (page) => {
    await page.goto(`${shown.url}/inbox?channel=comment`);
    await settled(page);
    const items = page.locator(".inbox > li");
    await items.nth(1).waitFor();
    // two numbers only where a filter parts them, each by what it counts
    const counts = page.getByRole("status");
    assert.match(await counts.innerText(), /^2 shown\. \d+ of the last \d+ want a look$/);
    await page.getByLabel("Channel").selectOption("");
    await page.waitForURL(/inbox$/);
    const all = await items.count();
    assert.match(await counts.innerText(), new RegExp(`^${all} of the last \\d+ want a look$`));
    await page.getByLabel("Channel").selectOption("comment");
    assert.equal(await items.count(), 2);
    await page.locator(".inbox > li:nth-child(1).here").waitFor();
    await page.keyboard.press("j");
    await page.locator(".inbox > li:nth-child(2).here").waitFor();
    await page.keyboard.press("k");
    await page.locator(".inbox > li:nth-child(1).here").waitFor();
    await page.keyboard.press("s");
    await items.nth(1).waitFor({ state: "detached" });
    await page.getByLabel("Channel").selectOption("correction");
    await page.waitForURL(/[?]channel=correction$/);
    await page.getByText("Becomes a pair for training").waitFor();
    await page.keyboard.press("a");
    await page.getByText("Nothing fits.").waitFor();
    const reviews: (string | undefined)[] = [];
    for await (const { channel, text } of shown.production.signals())
      if (channel === "review") reviews.push(text);
    assert.deepEqual(reviews, ["seen", "accepted"]);
    assert.deepEqual(bad, []);
  });

  test("? shows the keys of the page, and the palette goes to a run and to a view that was kept", async (page) => {
    await page.goto(`${shown.url}/?find=rloo`);
    await settled(page);
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keys on this page" });
    assert.match(await keys.innerText(), /\/\s+search on this page/);
    await page.keyboard.press("Escape");
    await keys.waitFor({ state: "detached" });
    await page.keyboard.press("/");
    assert.equal(await page.evaluate("document.activeElement.type"), "search");

    await page.keyboard.press("Control+k");
    const typed = page.getByRole("combobox", { name: "Go to" });
    await typed.fill("only rloo");
    await page.getByRole("option", { name: "Keep this view as “only rloo”" }).click();
    await page.keyboard.press("Control+k");
    await typed.fill("local");
    await page.getByRole("option", { name: /local · grpo on echo/ }).waitFor();
    await typed.press("Enter");
    await page.getByRole("region", { name: "Result" }).waitFor();
    await page.getByRole("button", { name: "Go to…" }).click();
    await typed.fill("only");
    await page.keyboard.press("Enter");
    await page.waitForURL(/[?]find=rloo$/);
    assert.deepEqual(bad, []);
  });

  test("on an episode, ? shows the keys that walk on it", async (page) => {
    await page.goto(shown.url + shown.episode);
    await settled(page);
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keys on this page" });
    assert.match(await keys.innerText(), /next turn.*next token.*next episode of the same task/s);
    assert.deepEqual(bad, []);
  });
});
