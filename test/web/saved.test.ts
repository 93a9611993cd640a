import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe } from "node:test";
import type { Page } from "playwright-core";
import { noBrowser } from "../browser.ts";
import { onOnePage } from "../pageTest.ts";
import { folder } from "../train/world.ts";
import { compare } from "./comparison.ts";
import { league } from "./league.ts";
import { converse, type Shown, settled, show, tell, train, watched } from "./world.ts";

describe("what a page saves", { skip: noBrowser }, () => {
  const root = folder();
  let shown: Shown;
  let run = "";
  let artefact = "";
  let bad: readonly string[];

  before(async () => {
    compare(root);
    await league(root);
    run = await train(root, "learns");
    shown = await show(root);
    await converse(shown.production);
    artefact = await tell(shown.production);
    const shares = { told: 0.5, base: 0.5 };
    await shown.production.addSplit({
      id: "told",
      shares,
      unit: "session",
      since: Date.now(),
      why: "=try it",
    });
  });
  after(() => shown?.close());
  const test = onOnePage((page) => {
    page.setDefaultTimeout(20_000);
    bad = watched(page, shown.url);
  });

  const saved = async (page: Page, button: string): Promise<readonly [name: string, file: Buffer]> => {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: button, exact: true }).click(),
    ]);
    return [file.suggestedFilename(), readFileSync(await file.path())];
  };

  const tables: readonly (readonly [label: string, path: () => string, name: string, says: RegExp])[] = [
    [
      "Runs",
      () => "/",
      "runs.csv",
      /^run,success in training,held out.*\r\nlearns,[\d.]+,.*,echo,grpo,1,[\d.]+,\d{4}-/,
    ],
    ["Comparisons", () => "/compare", "comparisons.csv", /^Methods,Environment.*\r\n"grpo, rloo",echo/],
    ["Leagues", () => "/compare", "leagues.csv", /^League,Members.*\r\nkuhn-poker,4,10,/],
    [
      "Episodes by task",
      () => `/runs/${encodeURIComponent(run)}/episodes`,
      "episodes by task of learns.csv",
      /^task,asked,iteration,.*\r\necho\/test\/0,red,4,after,agent,1,.*,2,success,2,red\r\n/,
    ],
    [
      "Splits that it had a share in",
      () => `/artefacts/${artefact}`,
      "splits of geography.csv",
      /^Since,Share,Why\r\n.*told 50\.0 %.*,'=try it/,
    ],
    [
      "Guardrails of told",
      () => "/versions",
      "guardrails of told.csv",
      /^Guardrail,Candidate,Baseline,Bound,State\r\n.*1 point above the baseline/s,
    ],
  ];
  for (const [label, path, name, says] of tables) {
    test(`the table: ${label}`, async (page) => {
      await page.goto(shown.url + path());
      await settled(page);
      const [as, file] = await saved(page, `Save as CSV: ${label}`);
      assert.equal(as, name);
      assert.match(file.toString(), says);
      assert.deepEqual(bad, []);
    });
  }

  const charts: readonly (readonly [title: string, path: () => string, numbers: RegExp, drawing: RegExp])[] =
    [
      [
        "comparison",
        () => `/compare?${new URLSearchParams({ run })}`,
        /^environment,method,.*\r\necho,grpo,/,
        /Success in training.*stroke="rgb/s,
      ],
      [
        "what was live",
        () => "/versions",
        /^since,version,share\r\n\d{4}-.*Z,base,0\.5\r\n/,
        /What was live.*<rect .*fill="rgb.*>told</s,
      ],
      [
        "evidence of turn-ppo",
        () => "/methods/turn-ppo",
        /^seed,baseline,turn-ppo\r\n\d+,[\d.]+,[\d.]+\r\n/,
        /is better<.*<circle .*fill="rgb/s,
      ],
    ];
  for (const [title, path, numbers, drawing] of charts) {
    test(`the chart: ${title}`, async (page) => {
      await page.goto(shown.url + path());
      await settled(page);
      await page.locator(`summary[aria-label="Save: ${title}"]`).click();
      const [, rows] = await saved(page, `CSV of ${title}`);
      assert.match(rows.toString(), numbers);
      const [as, svg] = await saved(page, `SVG of ${title}`);
      assert.equal(as, `${title}.svg`);
      assert.match(svg.toString(), drawing);
      assert.doesNotMatch(svg.toString(), /var\(/);
      const [, png] = await saved(page, `PNG of ${title}`);
      assert.deepEqual([...png.subarray(1, 4)], [...Buffer.from("PNG")]);
      const width = Number(/^<svg [^>]*width="(\d+)/.exec(svg.toString())?.[1]);
      assert.equal(png.readUInt32BE(16), 2 * width);
      assert.deepEqual(bad, []);
    });
  }
});
