import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import { Hono } from "hono";
import type { Page } from "playwright-core";
import { listen } from "../../src/http/listen.ts";
import { type Gated, gate } from "../../src/serve/auth.ts";
import { dashboard } from "../../src/serve/dashboard/index.ts";
import { mintKey } from "../../src/serve/keys.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { openRunStore } from "../../src/store/runStore.ts";
import { noBrowser } from "../browser.ts";
import { onOnePage } from "../pageTest.ts";
import { folder } from "../train/world.ts";
import { pages, settled } from "./world.ts";

/** Opens a page that leads away while it loads: to wait for its load event would be to wait for what may never come. */
const ledAway = (page: Page, url: string): Promise<unknown> => page.goto(url, { waitUntil: "commit" });

describe("pages that are reached from elsewhere", { skip: noBrowser }, () => {
  const root = folder();
  const { secret, key } = mintKey({ label: "me", scopes: ["read"] }, Date.now());
  let url = "";
  let revoke: () => Promise<void>;
  let close: () => Promise<void>;

  before(async () => {
    const file = join(root, "whetstone.sqlite");
    const [store, production] = [await openRunStore(file), await openTrafficStore(file)];
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
  });
  after(() => close?.());
  const test = onOnePage((page) => page.setDefaultTimeout(20_000));

  test("whoever is not known logs in, comes back to where they were, and is known until they leave", async (page) => {
    const refusals = ["session", "methods*"].map((path) => page.waitForResponse(`**/api/${path}`));
    const led: string[] = [];
    // all that is refused has been heard of before the login page comes: the first leads there, the others break nothing off
    await page.route("**/login?*", async (route) => {
      led.push(route.request().url());
      await Promise.all(refusals);
      await page.waitForTimeout(100);
      await route.continue().catch(() => {});
    });
    const field = page.getByLabel("Key");
    await ledAway(page, `${url}/methods?q=gain#found`);
    await field.waitFor();
    assert.deepEqual(led, [page.url()]);
    assert.match(page.url(), /\/login\?to=/);
    await field.fill("wst_nobodys");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("not known here").waitFor();
    await field.fill(secret);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Methods" }).waitFor();
    assert.equal(page.url(), `${url}/methods?q=gain#found`);
    await settled(page);
    // neither scripts nor addresses nor what is kept here have the key
    const seen = await page.evaluate<string>(
      "document.cookie + JSON.stringify(localStorage) + location.href",
    );
    assert.ok(!seen.includes("wst_"));
    await page.getByRole("button", { name: "Log out" }).click();
    await field.waitFor();
    assert.equal(page.url(), `${url}/login`);
    await ledAway(page, `${url}/inbox`);
    await field.waitFor();
    assert.equal(page.url(), `${url}/login?to=%2Finbox`);
  });

  test("a session ends with its key, wherever one looks", async (page) => {
    await page.goto(`${url}/login?to=//evil.example/`);
    await page.getByLabel("Key").fill(secret);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
    assert.equal(page.url(), `${url}/`);
    await revoke();
    await page.getByRole("link", { name: "Methods" }).click();
    await page.getByLabel("Key").waitFor();
    assert.equal(page.url(), `${url}/login?to=%2Fmethods`);
  });
});
