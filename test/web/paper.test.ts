import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { noBrowser } from "../browser.ts";
import { onOnePage } from "../pageTest.ts";
import { folder } from "../train/world.ts";
import { compare } from "./comparison.ts";
import { league } from "./league.ts";
import { sideways } from "./looked.ts";
import { type Peopled, settled, showPeopled, tell, watched } from "./world.ts";

describe("on paper", { skip: noBrowser }, () => {
  const root = folder();
  let shown: Peopled;
  let artefact = "";
  let bad: readonly string[];

  before(async () => {
    compare(root);
    await league(root);
    shown = await showPeopled(root);
    artefact = await tell(shown.production);
  });
  after(() => shown?.close());
  const test = onOnePage((page) => {
    page.setDefaultTimeout(20_000);
    bad = watched(page, shown.url);
  });
  const run = (): string => `/runs/${encodeURIComponent(shown.runs.at(-1)!)}`;

  const places: readonly (readonly [name: string, path: () => string])[] = [
    ["runs", () => "/"],
    ["run", run],
    ["tasks", () => `${run()}/tasks`],
    ["episode", () => shown.episode],
    ["comparison", () => "/comparisons/compare-echo"],
    ["league", () => "/compare/leagues/league.jsonl"],
    ["method", () => "/methods/turn-ppo"],
    ["session", () => "/sessions/s1"],
    ["versions", () => "/versions"],
    ["artefact", () => `/artefacts/${artefact}`],
  ];
  for (const [name, path] of places) {
    test(`${name}: light, within an upright A4 page and one on its side, and nothing to press`, async (page) => {
      await page.emulateMedia({ media: "screen", colorScheme: "dark" });
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(shown.url + path());
      await settled(page);
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      // A4 with margins of a centimetre
      for (const [width, height] of [
        [718, 1047],
        [1047, 718],
      ] as const) {
        await page.setViewportSize({ width, height });
        assert.ok((await sideways(page)) <= 0, `${width} px: wider than the page`);
        const out = await page.evaluate<readonly string[]>(`[...document.querySelectorAll("main *")]
          .filter((it) => it.getBoundingClientRect().right > innerWidth + 1 && !it.closest("svg"))
          .map((it) => it.outerHTML.slice(0, 100))`);
        assert.deepEqual(out, [], `${width} px`);
      }
      const pressed = await page.evaluate<readonly string[]>(
        `[...document.querySelectorAll("main :is(button, summary, input)")]
          .filter((it) => it.checkVisibility() && !it.closest("thead, details:not(.save-chart)"))
          .map((it) => it.outerHTML.slice(0, 100))`,
      );
      assert.deepEqual(pressed, []);
      assert.equal(
        await page.evaluate("getComputedStyle(document.body).backgroundColor"),
        "rgb(253, 253, 252)",
      );
      assert.deepEqual(bad, []);
    });
  }

  test("a column of what is pressed is left out, with its name", async (page) => {
    await page.emulateMedia({ media: "screen" });
    await page.setViewportSize({ width: 1600, height: 800 });
    await page.goto(`${shown.url}/versions`);
    await settled(page);
    assert.match(await page.innerText("main"), /Decide.*Promote…/s);
    await page.emulateMedia({ media: "print" });
    assert.doesNotMatch(await page.innerText("main"), /Decide|Promote…|Roll back…|Save/);
  });
});
