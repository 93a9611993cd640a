import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { Page } from "playwright-core";
import { noBrowser } from "../browser.ts";
import { browser, onOnePage } from "../pageTest.ts";
import { folder } from "../train/world.ts";
import { compare } from "./comparison.ts";
import { league } from "./league.ts";
import { serious, sideways } from "./looked.ts";
import { type Peopled, settled, showPeopled, tell, watched } from "./world.ts";

/** Tables of which a part is beside the screen. */
const cutTables = (page: Page): Promise<readonly string[]> =>
  page.evaluate(`[...document.querySelectorAll("main table")]
    .filter((table) => table.parentElement.scrollWidth > table.parentElement.clientWidth + 1)
    .map((table) => table.ariaLabel ?? table.className)`);

const barHeight = (page: Page): Promise<number> =>
  page.evaluate(`document.querySelector("header.bar").getBoundingClientRect().height`);

describe("pages over real runs and traffic", { skip: noBrowser }, () => {
  let shown: Peopled;
  let bad: readonly string[];
  let artefact = "";

  const root = folder();

  before(async () => {
    compare(root);
    await league(root);
    shown = await showPeopled(root);
    artefact = await tell(shown.production);
  });
  after(() => shown?.close());
  const test = onOnePage((page) => {
    bad = watched(page, shown.url);
  });

  const run = (): string => `/runs/${encodeURIComponent(shown.runs.at(-1)!)}`;
  const places: readonly (readonly [name: string, path: () => string, says: RegExp])[] = [
    ["runs", () => "/", /local.*rloo-2.*grpo-1/s],
    ["run", run, /grpo on echo · local engine · seed 1.*Success.*Entropy/s],
    ["tasks", () => `${run()}/tasks`, /Where tasks stand.*Dead groups.*\d+ of \d+ tasks.*Success lately/s],
    ["episodes", () => `${run()}/episodes`, /Outcome.*success/s],
    ["episode", () => shown.episode, /Advantage.*Turn 1 · credit/s],
    [
      "compare",
      () =>
        `/compare?${new URLSearchParams(shown.runs.slice(0, 4).map((id): [string, string] => ["run", id]))}`,
      /grpo.*rloo.*P\(better\)/s,
    ],
    [
      "comparison",
      () => "/comparisons/compare-echo",
      /grpo, rloo on echo.*2 seeds.*test.*held out.*Every run/s,
    ],
    [
      "comparisons",
      () => "/compare",
      /Made by whetstone compare.*grpo, rloo.*Played by whetstone league.*kuhn-poker/s,
    ],
    [
      "league",
      () => "/compare/leagues/league.jsonl",
      /League of kuhn-poker.*runs\/a\/kept\/00000010.*Rating over training.*Row wins from.*reference plays first.*your card is jack.*fold/s,
    ],
    ["methods", () => "/methods?family=credit", /igpo/],
    ["method", () => "/methods/turn-ppo", /Mechanism.*Mathematics.*Composition.*Evidence.*Try it/s],
    ["inbox", () => "/inbox", /Correction: Asmara is in Eritrea\..*Asmara is in Kenya\./s],
    ["sessions", () => "/sessions", /Cost.*Where is Asmara\?.*ann.*\$0\.00\d+.*s1/s],
    [
      "session",
      () => "/sessions/s1",
      /\$0\.00\d+.*I asked where it is\..*Asmara is in Kenya\..*Correct.*passed on POST \/v1\/audio\/speech.*81 in, 54 out.*status 500/s,
    ],
    ["versions", () => "/versions", /base baseline.*tuned.*Splits/s],
    ["artefacts", () => "/artefacts", /geography.*3 versions.*a capital that was wrong.*60\.0 %/s],
    [
      "artefact",
      () => `/artefacts/${artefact}`,
      /a capital that was wrong.*− Be brief\.\s*\+ Asmara is in Eritrea\..*Correction: Asmara is in Eritrea\..*The session.*places\/test.*60\.0 % \[50\.0 %, 70\.0 %\].*told to told/s,
    ],
    ["login", () => "/login", /Log in.*Key.*whetstone keys create/s],
    ["no page", () => "/nothing/here", /There is no such page/],
  ];

  for (const [name, path, says] of places) {
    test(`${name}: what is there, for everybody, on every screen, from here alone`, async (page) => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme: "light" });
      await page.goto(shown.url + path());
      await settled(page);
      // what is long is drawn in parts
      for (let tries = 0; tries < 100 && !says.test(await page.innerText("main")); tries++)
        await page.waitForTimeout(50);
      assert.match(await page.innerText("main"), says);
      assert.deepEqual(await serious(page), [], "light");
      await page.emulateMedia({ colorScheme: "dark" });
      assert.deepEqual(await serious(page, ["color-contrast"]), [], "dark");
      for (const width of [360, 800, 1024, 2560]) {
        await page.setViewportSize({ width, height: 800 });
        assert.ok((await sideways(page)) <= 0, `${width} px: the page scrolls sideways`);
        assert.deepEqual(await cutTables(page), [], `${width} px`);
        assert.ok((await barHeight(page)) < 60, `${width} px: the bar takes two rows`);
      }
      assert.deepEqual(bad, []);
    });
  }

  test("what is wrong is found", async () => {
    const wrong = await (await browser()).newPage();
    await wrong.setContent(
      '<main><h1>x</h1><img src="data:,"><p style="color: #bbb; background: #fff">faint',
    );
    const found = (await serious(wrong)).map((violation) => violation.split(":")[0]);
    assert.ok(found.includes("image-alt") && found.includes("color-contrast"), found.join());
    await wrong.close();
  });
});
