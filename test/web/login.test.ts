import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import axe from "axe-core";
import { Hono } from "hono";
import type { Browser, Page } from "playwright-core";
import { listen } from "../../src/env/agent/listen.ts";
import { type Gated, gate } from "../../src/serve/auth.ts";
import { dashboard } from "../../src/serve/dashboard/index.ts";
import { mintKey } from "../../src/serve/keys.ts";
import { openProduction, openStore } from "../../src/store/index.ts";
import { noBrowser, openBrowser } from "../browser.ts";
import { folder } from "../train/world.ts";
import { pages, settled } from "./world.ts";

describe("pages that are reached from elsewhere", { skip: noBrowser }, () => {
  const root = folder();
  const { secret, key } = mintKey({ label: "me", scopes: ["read"] }, Date.now());
  let browser: Browser;
  let page: Page;
  let url = "";
  let revoke: () => Promise<void>;
  let close: () => Promise<void>;

  before(async () => {
    const file = join(root, "whetstone.sqlite");
    const [store, production] = [await openStore(file), await openProduction(file)];
    await production.putKey(key);
    const door = gate({ production, open: false, signing: randomBytes(32) });
    revoke = async () => {
      await production.putKey({ ...key, revoked: Date.now() });
      door.changed();
    };
    const app = new Hono<Gated>()
      .use(door.enter)
      .route("/", dashboard({ store, production, folder: await pages(), gate: door }));
    const server = await listen((request) => app.fetch(request));
    url = server.url;
    close = async () => {
      await server.close();
      await production.close();
      await store.close();
    };
    browser = await openBrowser();
    page = await browser.newPage();
    page.setDefaultTimeout(20_000);
  });
  after(async () => {
    await browser?.close();
    await close?.();
  });

  test("whoever is not known logs in, comes back to where they were, and is known until they leave", async () => {
    await page.goto(`${url}/methods?q=gain#found`);
    await page.waitForURL(/\/login\?to=/);
    await page.evaluate(axe.source);
    const wrong = await page.evaluate<readonly { readonly id: string }[]>(
      `axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations)`,
    );
    assert.deepEqual(wrong, []);
    const field = page.getByLabel("Key");
    await field.fill("wst_nobodys");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("not known here").waitFor();
    await field.fill(secret);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${url}/methods?q=gain#found`);
    await settled(page);
    // neither scripts nor addresses nor what is kept here have the key
    const seen = await page.evaluate<string>(
      "document.cookie + JSON.stringify(localStorage) + location.href",
    );
    assert.ok(!seen.includes("wst_"));
    await page.getByRole("button", { name: "Log out" }).click();
    await page.waitForURL(`${url}/login`);
    await page.goto(`${url}/inbox`);
    await page.waitForURL(/\/login\?to=%2Finbox$/);
  });

  test("a session ends with its key, wherever one looks", async () => {
    await page.goto(`${url}/login?to=//evil.example/`);
    await page.getByLabel("Key").fill(secret);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL(`${url}/`);
    await settled(page);
    await revoke();
    await page.getByRole("link", { name: "Methods" }).click();
    await page.waitForURL(/\/login\?to=%2Fmethods$/);
  });
});
