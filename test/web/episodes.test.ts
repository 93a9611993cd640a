import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { noBrowser } from "../browser.ts";
import { onOnePage } from "../pageTest.ts";
import { trajectory, turn } from "../serve/dashboard/world.ts";
import { folder } from "../train/world.ts";
import { type Shown, settled, show, watched } from "./world.ts";

describe("episodes are found by what they are about", { skip: noBrowser }, () => {
  let shown: Shown;
  let bad: readonly string[];
  const path = (): string => `${shown.url}/runs/a/episodes`;

  before(async () => {
    shown = await show(folder());
    const start = { name: "a", env: "echo", method: "grpo", engine: "tabular", seed: 1, config: {} };
    await shown.store.startRun({ ...start, id: "a", folder: "runs/a" });
    const said = (asked: string, content: string, outcome: number) =>
      turn({
        prompt: [{ role: "user", content: asked }],
        action: { role: "assistant", content },
        rewards: { outcome },
      });
    const where = "Where is Asmara?";
    const long = Array.from({ length: 8 }, (_, k) => said("Count to eight.", `${k + 1}`, k === 7 ? 1 : 0));
    await shown.store.saveIteration("a", 3, {
      metrics: { success: 0.5 },
      trajectories: [
        trajectory("e1", { task: "asmara", turns: [said(where, "Kenya", 0)] }),
        trajectory("e2", { task: "asmara", turns: [said(where, "Eritrea", 1)] }),
        trajectory("e3", { task: "asmara", turns: [said(where, "Nowhere", -1)] }),
        trajectory("e4", { task: "count", turns: long }),
      ].map((trajectory) => ({ trajectory, phase: "train" })),
    });
  });
  after(() => shown?.close());
  const test = onOnePage((page) => {
    page.setDefaultTimeout(20_000);
    bad = watched(page, shown.url);
  });

  test("those of a task stand together, each with what it did, and zero is neither good nor bad", async (page) => {
    await page.goto(path());
    await settled(page);
    const group = page.getByRole("region", { name: /Episodes of asmara/ });
    assert.match(await group.innerText(), /Where is Asmara\?.*they part in turn 1/s);
    const rows = group.locator("li");
    assert.deepEqual(
      (await rows.allInnerTexts()).map((row) => row.split("\n").slice(0, 3)),
      [
        ["0", "success", "Kenya"],
        ["+1", "success", "Eritrea"],
        ["−1", "success", "Nowhere"],
      ],
    );
    const tones = await group
      .locator(".reward")
      .evaluateAll((all) => all.map((one) => (one as { className: string }).className));
    assert.deepEqual(tones, ["reward even", "reward good", "reward bad"]);
    assert.deepEqual(bad, []);
  });

  test("a search and the view stand in the address, and a list says what each was about", async (page) => {
    await page.goto(path());
    await settled(page);
    await page.getByLabel("Task or transcript").fill("eritrea");
    await page.getByLabel("Task or transcript").press("Enter");
    await page.waitForURL(/[?]text=eritrea$/);
    await page.locator(".siblings li").first().waitFor();
    await page.locator(".siblings li").nth(1).waitFor({ state: "detached" });
    await page.getByLabel("View").selectOption("list");
    await page.waitForURL((url) => url.searchParams.get("view") === "list");
    await page.reload();
    await page.getByRole("link", { name: "Where is Asmara?" }).waitFor();
    assert.equal(await page.getByLabel("Task or transcript").inputValue(), "eritrea");
    await page.getByRole("link", { name: "Where is Asmara?" }).click();
    await page.getByRole("heading", { name: "Where is Asmara?" }).waitFor();
    assert.deepEqual(bad, []);
  });

  test("a long episode has a strip of its turns, each a way to it", async (page) => {
    await page.setViewportSize({ width: 800, height: 300 });
    await page.goto(`${shown.url}/runs/a/episode?id=e4&phase=train&iteration=3`);
    await settled(page);
    const strip = page.getByRole("navigation", { name: "Turns" });
    assert.equal(await strip.getByRole("link").count(), 8);
    await strip.getByRole("link", { name: "7" }).click();
    const top = await page.evaluate<number>("document.getElementById('turn-6').getBoundingClientRect().top");
    assert.ok(top >= 0 && top < 300, `${top} px`);
    assert.deepEqual(bad, []);
  });
});
