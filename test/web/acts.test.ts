import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import type { ReceivedSignal } from "../../src/core/served.ts";
import { noBrowser } from "../browser.ts";
import { browser, onOnePage, pageTest } from "../pageTest.ts";
import { served as servedResponse } from "../serve/memory.ts";
import { folder } from "../train/world.ts";
import { type Peopled, settled, show, showPeopled, watched } from "./world.ts";

describe("what people do on pages", { skip: noBrowser }, () => {
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

  const heard = async (): Promise<ReceivedSignal[]> => {
    const all: ReceivedSignal[] = [];
    for await (const signal of shown.production.signals()) all.push(signal);
    return all;
  };

  test("an address points at a token, keys walk on from it, and the address follows", async (page) => {
    await page.goto(`${shown.url + shown.episode}#t0.1`);
    const chosen = page.locator(".token.chosen");
    await chosen.waitFor();
    assert.equal(await chosen.getAttribute("id"), "t0.1");
    assert.match(await page.innerText("aside"), /Turn 1, token 1: "<end>".*Advantage.*Log-probability/s);
    // the first turn is one word and its end: the token after them is the first of the second turn
    await page.keyboard.press("ArrowRight");
    await page.locator("[id='t1.0'].chosen").waitFor();
    await page.waitForURL(/#t1\.0$/);
    await page.keyboard.press("k");
    await page.waitForURL(/#t0\.0$/);
    await page.reload();
    await chosen.waitFor();
    assert.equal(await chosen.getAttribute("id"), "t0.0");
    const before = page.url();
    await page.keyboard.press("l");
    await page.waitForURL((url) => url.href !== before && url.pathname.endsWith("/episode"));
    assert.deepEqual(bad, []);
  });

  test("what is selected in a reply is commented on, kept with its place, marked, and waits in the inbox", async (page) => {
    await page.goto(`${shown.url}/sessions/s1`);
    const reply = page.locator("li#r2");
    await reply.waitFor();
    await reply.scrollIntoViewIfNeeded();
    // "Asmara is in Kenya.": Kenya are its characters 13 to 18
    const { x, y } = await page.evaluate<{ readonly x: number; readonly y: number }>(`(() => {
      const range = document.createRange();
      const text = document.querySelector("#r2 .acted .tokens").firstChild.firstChild;
      range.setStart(text, 13);
      range.setEnd(text, 18);
      const { left, top, width, height } = range.getBoundingClientRect();
      return { x: left + width / 2, y: top + height / 2 };
    })()`);
    await page.mouse.dblclick(x, y);
    await reply.getByRole("button", { name: "Comment on the selection" }).click();
    await reply.getByLabel("On “Kenya”").fill("another country");
    await reply.getByRole("button", { name: "Send" }).click();
    await reply.locator("mark").waitFor();
    assert.equal(await reply.locator("mark").innerText(), "Kenya");
    const comment = (await heard()).find((s) => s.text === "another country");
    assert.deepEqual(
      [comment?.kind, comment?.about],
      ["critique", [{ response: "r2", characters: [13, 18] }]],
    );

    await page.goto(`${shown.url}/inbox`);
    const item = page.locator(".inbox > li", { hasText: "another country" });
    await item.getByRole("button", { name: "Seen" }).click();
    await item.waitFor({ state: "detached" });
    const review = (await heard()).find((s) => s.channel === "review");
    assert.deepEqual([review?.text, review?.tags.signal], ["seen", comment?.id]);
    assert.deepEqual(bad, []);
  });

  test("a thumb, a rating and a correction are kept", async (page) => {
    await page.goto(`${shown.url}/sessions/s1`);
    const reply = page.locator("li#r1");
    const said = reply.locator(".signals > li");
    await reply.getByRole("button", { name: "Thumbs down" }).click();
    await said.first().waitFor();
    await reply.getByLabel("Stars").selectOption("2");
    await said.nth(1).waitFor();
    await reply.getByRole("button", { name: "Correct" }).click();
    await reply.getByLabel("The reply as it should have been").fill("Hello.");
    await reply.getByRole("button", { name: "Send" }).click();
    await said.nth(2).waitFor();
    const mine = (await heard()).filter((s) => s.about.some((t) => t.response === "r1"));
    // two of five stars are a quarter of the way from 1 to 5
    assert.deepEqual(
      mine.map(({ kind, text, value }) => [kind, text ?? value]),
      [
        ["reaction", "thumbs_down"],
        ["score", 0.25],
        ["correction", "Hello."],
      ],
    );
    assert.deepEqual(bad, []);
  });

  test("sessions say what they are about, and are found by it", async (page) => {
    await page.goto(`${shown.url}/sessions`);
    const row = page.getByRole("row").filter({ hasText: "Where is Asmara?" });
    await row.waitFor();
    assert.match(await row.innerText(), /Where is Asmara\?\s+ann\s+2\s+0/);
    await page.getByLabel("Find").fill("eritrea");
    await page.getByLabel("Find").press("Enter");
    await page.waitForURL(/[?]text=eritrea$/);
    await page.getByText("No session fits.").waitFor();
    await page.getByLabel("Find").fill("kenya");
    await page.getByLabel("Find").press("Enter");
    await row.waitFor();
    assert.equal(await page.getByRole("row").count(), 2);
    await page.getByLabel("Only with errors").check();
    await page.getByText("No session fits.").waitFor();
    await row.waitFor({ state: "detached" });
    assert.deepEqual(bad, []);
  });

  test("a split is held with a reason, and its evidence goes on", async (page) => {
    await page.goto(`${shown.url}/versions`);
    await page.getByRole("button", { name: "Hold…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Why").fill("a week more");
    await dialog.getByRole("button", { name: "Hold" }).click();
    await dialog.waitFor({ state: "detached" });
    const last = (await shown.production.splits()).at(-1)!;
    assert.deepEqual([last.shares, last.why], [{ base: 0.5, tuned: 0.5 }, "hold: a week more"]);
    assert.deepEqual(bad, []);
  });

  test("a version is promoted once somebody has said why, and not before", async (page) => {
    await page.goto(`${shown.url}/versions`);
    const row = page.locator("tr", { hasText: "tuned" }).first();
    await row.getByRole("button", { name: "Promote…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal((await shown.production.splits()).length, 2);
    await row.getByRole("button", { name: "Promote…" }).click();
    const promote = dialog.getByRole("button", { name: "Promote" });
    await dialog.getByLabel("Why").fill("liked more");
    await dialog.getByLabel("Type tuned to go on").fill("base");
    assert.ok(await promote.isDisabled(), "the wrong name");
    await dialog.getByLabel("Type tuned to go on").fill("tuned");
    await promote.click();
    await dialog.waitFor({ state: "detached" });
    const last = (await shown.production.splits()).at(-1)!;
    assert.deepEqual(last.shares, { tuned: 1 });
    assert.match(last.why, /liked more/);
    assert.deepEqual(bad, []);
  });

  test("what runs are looked for, in which order, and those put away as well, stand in the address", async (page) => {
    const names = (): Promise<readonly string[]> => page.locator("table.runs th[scope=row]").allInnerTexts();
    await page.goto(shown.url);
    const find = page.getByLabel("Find");
    await find.fill("rloo");
    await page.waitForURL(/[?]find=rloo$/);
    await page.getByRole("button", { name: "Seed" }).click();
    await page.waitForURL((url) => url.searchParams.get("by") === "Seed");
    assert.deepEqual(await names(), ["rloo-1", "rloo-2"]);
    await page.getByRole("button", { name: "Seed" }).click();
    await page.waitForURL((url) => url.searchParams.get("order") === "down");
    // as somebody finds it who was given the address, and as it is found again on the way back
    const address = page.url();
    const again = await (await browser()).newPage();
    await again.goto(address);
    await again.locator("table.runs th[scope=row]").first().waitFor();
    assert.equal(await again.getByLabel("Find").inputValue(), "rloo");
    assert.deepEqual(await again.locator("table.runs th[scope=row]").allInnerTexts(), ["rloo-2", "rloo-1"]);
    await again.close();
    await page.getByRole("link", { name: "rloo-2" }).click();
    await page.waitForURL(/\/runs\//);
    await page.goBack();
    await page.waitForURL(address);
    await page.locator("table.runs th[scope=row]").first().waitFor();
    assert.deepEqual(await names(), ["rloo-2", "rloo-1"]);

    await page.getByRole("button", { name: "Archive rloo-2" }).click();
    await page.getByRole("link", { name: "rloo-2" }).waitFor({ state: "detached" });
    await page.getByLabel("Archived too").check();
    await page.waitForURL((url) => url.searchParams.get("archived") === "true");
    assert.deepEqual(await names(), ["rloo-2", "rloo-1"]);
    await page.getByRole("button", { name: "Bring back rloo-2" }).click();
    await page.getByLabel("Archived too").uncheck();
    await find.fill("");
    await page.waitForURL((url) => !url.searchParams.has("find") && !url.searchParams.has("archived"));
    assert.deepEqual(bad, []);
  });

  test("without a mouse: past the bar, to a run and its episodes, each stop to be seen", async (page) => {
    await page.goto(shown.url);
    await settled(page);
    const focus = (): Promise<{ readonly text: string; readonly seen: boolean }> =>
      page.evaluate(`(() => {
        const { x, width, height } = document.activeElement.getBoundingClientRect();
        const { outlineStyle } = getComputedStyle(document.activeElement);
        const text = document.activeElement.innerText || document.activeElement.ariaLabel || "";
        return { text, seen: x >= 0 && width > 0 && height > 0 && outlineStyle !== "none" };
      })()`);
    await page.keyboard.press("Tab");
    assert.deepEqual(await focus(), { text: "Skip to content", seen: true });
    await page.keyboard.press("Enter");
    for (let stops = 0; (await focus()).text !== "local"; stops++) {
      assert.ok(stops < 20, "the run is never reached");
      await page.keyboard.press("Tab");
      const { text, seen } = await focus();
      assert.ok(seen, `“${text}” has the focus and shows it nowhere`);
      assert.notEqual(text, "Compare", "the bar is passed");
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "local" }).waitFor();
    const chart = page.getByRole("slider", { name: "Success" });
    await chart.focus();
    await page.keyboard.press("ArrowRight");
    assert.match((await chart.getAttribute("aria-valuetext")) ?? "", /^iteration \d+: success /);
    await page.getByRole("link", { name: "Episodes", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Episodes" }).waitFor();
    assert.deepEqual(bad, []);
  });

  pageTest("what is not there, or cannot be asked for, is said", async () => {
    const gone = await (await browser()).newPage();
    const says = async (path: string, words: RegExp): Promise<void> => {
      await gone.goto(shown.url + path);
      assert.match(await gone.getByRole("alert").innerText(), words, path);
    };
    await says("/runs/none", /The run could not be loaded\. There is no run none in this store\./);
    await says(
      `/runs/${encodeURIComponent(shown.runs.at(-1)!)}/episode?id=none&phase=train&iteration=1`,
      /Episode none of iteration 1 is not stored/,
    );
    await says("/compare?run=none", /There is no run none/);
    await says("/methods/none", /The method could not be loaded\. .*none/);
    await says(
      "/sessions/none",
      /The session could not be loaded\. The id is unknown, or your key may not read it/,
    );
    await gone.route("**/v1/**", (route) => route.abort());
    for (const path of ["/sessions", "/versions"]) await says(path, /could not be loaded/);
    await gone.close();
  });

  pageTest(
    "a store of traffic alone opens on its sessions, and shows that there are no runs to who asks",
    async () => {
      const served = await show(folder());
      const fresh = await (await browser()).newPage();
      try {
        await served.production.write([{ kind: "response", response: servedResponse({ id: "r1" }) }]);
        await fresh.goto(served.url);
        await fresh.waitForURL(/[/]sessions$/);
        await fresh.getByRole("heading", { name: "Sessions" }).waitFor();
        await fresh.getByRole("link", { name: "Runs", exact: true }).click();
        await fresh.getByRole("heading", { name: "No runs yet" }).waitFor();
      } finally {
        await fresh.close();
        await served.close();
      }
    },
  );

  pageTest("an empty store says on each page what would fill it", async () => {
    const empty = await show(folder());
    const fresh = await (await browser()).newPage();
    const wrong = watched(fresh, empty.url);
    try {
      for (const [path, heading, command] of [
        ["/", "No runs yet", "npx whetstone start"],
        ["/compare", "Compare", "npx whetstone compare"],
        ["/inbox", "No feedback yet", "npx whetstone serve"],
        ["/sessions", "No sessions yet", "npx whetstone serve"],
        ["/versions", "No versions yet", "npx whetstone serve"],
      ] as const) {
        await fresh.goto(empty.url + path);
        await fresh.getByRole("heading", { name: heading }).waitFor();
        assert.ok((await fresh.innerText("main")).includes(command), path);
      }
      assert.deepEqual(wrong, []);
    } finally {
      await fresh.close();
      await empty.close();
    }
  });
});
