import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe } from "node:test";
import { noBrowser } from "../browser.ts";
import { onOnePage } from "../pageTest.ts";
import { echo, folder } from "../train/world.ts";
import { type Shown, settled, show, train, watched } from "./world.ts";

describe("the page of a run", { skip: noBrowser }, () => {
  const root = folder();
  let shown: Shown;
  let id = "";
  let bad: readonly string[];

  before(async () => {
    const { tasks } = echo();
    // no task of one split is one of another
    const apart = (split: string) =>
      tasks(split).map((task) => ({ ...task, metadata: { ...task.metadata, split } }));
    id = await train(root, "learns", { iterations: 8, environment: echo({ tasks: apart }) });
    shown = await show(root);
  });
  after(() => shown?.close());
  const test = onOnePage((page) => {
    page.setDefaultTimeout(20_000);
    bad = watched(page, shown.url);
  });
  const path = (run: string): string => `${shown.url}/runs/${encodeURIComponent(run)}`;

  test("it opens with before and after on held-out tasks, and folds validations", async (page) => {
    await page.goto(path(id));
    await settled(page);
    const evaluations = await shown.store.evaluations(id);
    const of = (when: string) => evaluations.find((e) => e.when === when && e.split === "test")!;
    const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
    const result = await page.getByRole("region", { name: "Result" }).innerText();
    assert.match(
      result,
      new RegExp(
        `Held-out success.*3 tasks of test.*before\\s+${percent(of("before").success.mean)}.*after\\s+${percent(of("after").success.mean)}.*points.*gained, \\d+ lost`,
        "s",
      ),
    );
    // what was measured on the way is there, and folded
    const validations = page.getByText(/^\d+ validations during the run$/);
    const table = page.getByRole("table", { name: "Validations during the run" });
    assert.equal(await table.isVisible(), false);
    await validations.click();
    await table.waitFor();
    assert.match(await page.getByRole("region", { name: "Health" }).innerText(), /\d+ passed/);
    assert.deepEqual(bad, []);
  });

  test("held-out success has a chart, every legend has values, and smoothing stands in the address", async (page) => {
    await page.goto(path(id));
    await page.locator("[role=slider][aria-label='Held out'][aria-valuetext*='test']").waitFor();
    const legends = await page.locator(".chart .legend").allInnerTexts();
    assert.ok(legends.length > 3);
    for (const legend of legends) assert.match(legend, /\d/);
    const smoothing = page.getByLabel("Smoothing");
    assert.equal(await smoothing.inputValue(), "0.6");
    await smoothing.fill("0");
    await page.waitForURL(/[?]smoothing=0$/);
    await page.reload();
    await settled(page);
    assert.equal(await smoothing.inputValue(), "0");
    // as it is usually, the address says nothing of it
    await smoothing.fill("0.6");
    await page.waitForURL((url) => url.search === "");
    assert.deepEqual(bad, []);
  });

  test("a chart is saved as a drawing, as a picture, and as its numbers", async (page) => {
    await page.goto(path(id));
    await page.locator("[role=slider][aria-label=Success][aria-valuetext*='from']").waitFor();
    const saved = async (format: string): Promise<Buffer> => {
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: `${format} of Success` }).click(),
      ]);
      assert.equal(file.suggestedFilename(), `Success.${format.toLowerCase()}`);
      return readFileSync(await file.path());
    };
    await page.locator("summary[aria-label='Save: Success']").click();
    const lines = (await saved("CSV")).toString().trim().split("\r\n");
    assert.equal(lines[0], "iteration,success");
    assert.equal(lines.length, 9);
    assert.match((await saved("SVG")).toString(), /^<svg xmlns=.*>Success<.*<path d="M[\d. L]+"/s);
    assert.deepEqual([...(await saved("PNG")).subarray(1, 4)], [...Buffer.from("PNG")]);
    assert.deepEqual(bad, []);
  });

  test("a run that failed says why, and how it goes on", async (page) => {
    const start = { name: "broken", env: "echo", method: "grpo", engine: "tabular", seed: 1, config: {} };
    await shown.store.startRun({ ...start, id: "broken", folder: "runs/broken" });
    await shown.store.saveIteration("broken", 0, { metrics: { success: 0.5 }, trajectories: [] });
    await shown.store.finishRun("broken", "failed", { error: "the judge did not answer" });
    await page.goto(path("broken"));
    const alert = page.getByRole("alert");
    assert.match(
      await alert.innerText(),
      /The run failed.*the judge did not answer.*1 iteration was kept.*train --out .*broken --resume/s,
    );
    assert.match(await page.getByRole("region", { name: "Result" }).innerText(), /Not measured/);
    assert.deepEqual(bad, []);
  });
});
