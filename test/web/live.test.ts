import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "playwright-core";
import { browser, pageTest } from "../pageTest.ts";
import { echo, folder, watched as withStarts } from "../train/world.ts";
import { settled, show, train, watched } from "./world.ts";

/** Notes what jumps in the window while nobody touches it, and how far, from the page's first frame on. */
const watchShifts = `
  globalThis.shifted = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      const what = sources.map(({ node }) => (node?.outerHTML ?? node?.data ?? "").slice(0, 120));
      globalThis.shifted.push(value + ": " + what.join(" | "));
    }
  }).observe({ type: "layout-shift", buffered: true });
`;
const shifts = (page: Page): Promise<string[]> => page.evaluate<string[]>("globalThis.shifted");
const forget = (page: Page): Promise<void> => page.evaluate<void>("void (globalThis.shifted = [])");

pageTest("a run shows while it goes, on both pages, and nothing jumps", async () => {
  const root = folder();
  await train(root, "before", { iterations: 2 });
  const shown = await show(root);
  const open = async () => {
    const page = await (await browser()).newPage({ viewport: { width: 1280, height: 800 } });
    await page.addInitScript(watchShifts);
    return page;
  };
  const [list, one] = [await open(), await open()];
  try {
    const bad = [watched(list, shown.url), watched(one, shown.url)];
    await list.goto(shown.url);
    await settled(list);
    // the observer is no idle one
    assert.deepEqual(await shifts(list), []);
    await list.evaluate("document.querySelector('h1').style.marginTop = '200px'");
    while ((await shifts(list)).length === 0) await list.waitForTimeout(50);
    await list.reload();
    await settled(list);

    // it begins at a pace that can be looked at, nears its end only slowly until it has been, and hurries then
    let [starts, looked] = [0, false];
    const paced = withStarts(echo(), () => (looked ? undefined : pause(starts++ < 200 ? 30 : 500)));
    const going = train(root, "now", { iterations: 60, environment: paced });
    const row = list.getByRole("row").filter({ has: list.getByRole("link", { name: "now", exact: true }) });
    await row.getByText("running").waitFor();
    await forget(list); // a run that is new takes a row

    await one.goto(`${shown.url}/runs/${encodeURIComponent(`${root}/now`)}`);
    // the first points have come: charts without any have no marks beside their axes
    await one.locator("[role=slider][aria-label=Success][aria-valuetext^='success from']").waitFor();
    const done = async (): Promise<number> =>
      Number(/(\d+) iterations/.exec(await one.innerText(".facts"))?.[1]);
    const early = await done();
    await forget(one);
    while ((await done()) === early) await one.waitForTimeout(50);
    const [listShifts, oneShifts] = [await shifts(list), await shifts(one)];
    // nobody can see it: nothing is asked for, until somebody can
    const hide = (hidden: boolean): Promise<void> =>
      list.evaluate(`Object.defineProperty(document, "hidden", { configurable: true, value: ${hidden} });
        void document.dispatchEvent(new Event("visibilitychange"))`);
    const ended = list.waitForEvent("requestfailed", (request) => request.url().endsWith("/api/runs/live"));
    await hide(true);
    await ended;
    const anew = list.waitForRequest("**/api/runs/live");
    await hide(false);
    await anew;
    looked = true;
    await going;
    await row.getByText("done").waitFor();
    await one.locator(".facts").getByText("60 iterations").waitFor();
    assert.ok(early < 60, "the run was over before it was looked at");
    assert.deepEqual(listShifts, []);
    assert.deepEqual(oneShifts, []);
    assert.deepEqual(bad, [[], []]);
  } finally {
    await Promise.all([list.close(), one.close()]);
    await shown.close();
  }
});
