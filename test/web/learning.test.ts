// examples/browser: an agent learns in the page, with plain tables and on a software adapter.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { noBrowser } from "../browser.ts";
import { ends, learnt, type Served, servedPage } from "./learningPage.ts";

let served: Served;
before(async () => {
  if (!noBrowser) served = await servedPage();
});
after(() => served?.close());

test("with plain tables the agent learns every recipe, and each word shows its credit", {
  skip: noBrowser,
}, async () => {
  const page = await served.browser.newPage();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  const status = await learnt(page, `${served.url}?engine=tables&iterations=40&seed=3`, 60_000);
  assert.match(status, /Plain tables.*Iteration 40 of 40/s);
  const { first, last } = await ends(page);
  assert.ok(first < 0.3 && last > 0.9, `${first} to ${last}`);
  assert.ok(
    asked.every((to) => to.startsWith(served.url)),
    "everything comes from the static server",
  );

  // before it learnt, some words were better and some worse than others in the same place
  await page.getByRole("slider", { name: /Episodes of iteration/ }).fill("3");
  await page.getByText("Episodes of iteration 4").waitFor();
  assert.equal(await page.locator(".episodes section").count(), 4);
  const painted = (sign: string) => page.locator(`.episodes .token[class*="${sign}"]`).count();
  assert.ok((await painted("up")) > 0 && (await painted("down")) > 0);
  await page.close();
});

test("without a GPU the page says so, and learns with tables", { skip: noBrowser }, async () => {
  const page = await served.browser.newPage();
  // a software adapter is not taken unasked
  const status = await learnt(page, `${served.url}?iterations=3`, 60_000);
  assert.match(status, /Plain tables.*No GPU: .*Iteration 3 of 3/s);
  await page.close();
});

test("on a software adapter the loop trains a transformer by the kernels of the GPU", {
  skip: noBrowser,
}, async (t) => {
  const page = await served.browser.newPage();
  const status = await learnt(page, `${served.url}?software&iterations=2&attempts=2`, 240_000);
  await page.close();
  if (/Plain tables/.test(status)) return t.skip(`no adapter in this browser: ${status}`);
  assert.match(status, /A transformer .*Iteration 2 of 2.*Done/s);
});
