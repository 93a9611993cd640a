import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { noBrowser, openBrowser } from "../browser.ts";
import { folder } from "../train/world.ts";
import { converse, practise, type Shown, settled, show, sideways, watched } from "./world.ts";

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe-core holds against a page. @param rules all where none are named. */
async function serious(page: Page, rules?: readonly string[]): Promise<string[]> {
  const only = rules ? { runOnly: { type: "rule", values: rules } } : {};
  const found = await page.evaluate<readonly Violation[]>(
    `axe.run(document, ${JSON.stringify({ ...only, resultTypes: ["violations"] })}).then((r) => r.violations)`,
  );
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
}

describe("pages over real runs and traffic", { skip: noBrowser }, () => {
  let browser: Browser;
  let shown: Shown;
  let page: Page;
  let bad: readonly string[];
  const runs: string[] = [];
  let episode = "";

  const root = folder();

  before(async () => {
    for (const method of ["grpo", "rloo"] as const) {
      for (const seed of [1, 2])
        runs.push(await practise(root, `${method}-${seed}`, { method, seed, iterations: 2 }));
    }
    const local = await practise(root, "local", { engine: "local", iterations: 2 });
    runs.push(local);
    shown = await show(root);
    await converse(shown.production);
    const { found } = await shown.store.searchTrajectories(local, {
      phase: "train",
      order: "best",
      offset: 0,
      limit: 1,
    });
    const { id, phase, iteration } = found[0]!;
    episode = `/runs/${encodeURIComponent(local)}/episode?${new URLSearchParams({ id, phase, iteration: String(iteration) })}`;
    browser = await openBrowser();
    page = await browser.newPage();
    bad = watched(page, shown.url);
  });
  after(async () => {
    await browser?.close();
    await shown?.close();
  });

  const run = (): string => `/runs/${encodeURIComponent(runs.at(-1)!)}`;
  const places: readonly (readonly [name: string, path: () => string, says: RegExp])[] = [
    ["runs", () => "/", /local.*rloo-2.*grpo-1/s],
    ["run", run, /grpo on echo · local engine · seed 1.*Success.*Entropy/s],
    ["episodes", () => `${run()}/episodes`, /Outcome.*success/s],
    ["episode", () => episode, /Advantage.*Turn 1 · credit/s],
    [
      "compare",
      () => `/compare?${new URLSearchParams(runs.slice(0, 4).map((id): [string, string] => ["run", id]))}`,
      /grpo.*rloo.*P\(better\)/s,
    ],
    ["methods", () => "/methods", /igpo/],
    ["method", () => "/methods/igpo", /Mechanism.*Mathematics.*Composition.*Evidence.*Try it/s],
    ["inbox", () => "/inbox", /Correction: Asmara is in Eritrea\..*Asmara is in Kenya\./s],
    ["sessions", () => "/sessions", /s1.*ann/s],
    ["session", () => "/sessions/s1", /I asked where it is\..*Asmara is in Kenya\..*Correct/s],
    ["versions", () => "/versions", /base baseline.*tuned.*Splits/s],
    ["login", () => "/login", /Log in.*Key.*whetstone keys create/s],
    ["no page", () => "/nothing/here", /There is no such page/],
  ];

  for (const [name, path, says] of places) {
    test(`${name}: what is there, for everybody, on every screen, from here alone`, async () => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme: "light" });
      await page.goto(shown.url + path());
      await settled(page);
      assert.match(await page.innerText("main"), says);
      await page.evaluate(axe.source);
      assert.deepEqual(await serious(page), [], "light");
      await page.emulateMedia({ colorScheme: "dark" });
      assert.deepEqual(await serious(page, ["color-contrast"]), [], "dark");
      for (const width of [360, 2560]) {
        await page.setViewportSize({ width, height: 800 });
        assert.ok((await sideways(page)) <= 0, `${width} px: the page scrolls sideways`);
      }
      assert.deepEqual(bad, []);
    });
  }

  test("what is wrong is found", async () => {
    const wrong = await browser.newPage();
    await wrong.setContent(
      '<main><h1>x</h1><img src="data:,"><p style="color: #bbb; background: #fff">faint',
    );
    await wrong.evaluate(axe.source);
    const found = (await serious(wrong)).map((violation) => violation.split(":")[0]);
    assert.ok(found.includes("image-alt") && found.includes("color-contrast"), found.join());
    await wrong.close();
  });
});
