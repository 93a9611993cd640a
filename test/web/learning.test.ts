// examples/browser: an agent learns in the page, with plain tables and on a software adapter.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { noBrowser, openBrowser, softwareGpu } from "../browser.ts";

const example = join(import.meta.dirname, "..", "..", "examples", "browser");
const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
};
let url = "";
let browser: Browser;
let close = async (): Promise<void> => {};

before(async () => {
  if (noBrowser) return;
  const outDir = mkdtempSync(join(tmpdir(), "whetstone-page-"));
  const { build } = await import("vite");
  await build({ configFile: join(example, "vite.config.ts"), logLevel: "warn", build: { outDir } });
  const server = createServer(async ({ url: path = "/" }, response) => {
    const name = new URL(path, "http://page").pathname;
    const file = join(outDir, name === "/" ? "index.html" : name);
    const bytes = await readFile(file).catch(() => undefined);
    response
      .writeHead(bytes ? 200 : 404, { "content-type": types[extname(file)] ?? "text/plain" })
      .end(bytes);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  browser = await openBrowser(softwareGpu);
  close = async () => {
    await browser.close();
    server.close();
  };
});
after(() => close());

/** Opens the page, starts the learning and waits for its end. @returns what went wrong in it. */
async function learnt(page: Page, query: string, ms: number): Promise<string> {
  page.setDefaultTimeout(ms);
  await page.goto(`${url}?${query}`);
  await page.getByRole("button", { name: "Let it learn" }).click();
  await page.getByText(/Done\.|Failed:/).waitFor();
  return page.getByRole("status").innerText();
}

/** Success of the chart's iterations, as it tells them to those who do not see it. */
async function ends(page: Page): Promise<{ readonly first: number; readonly last: number }> {
  const told = await page.getByRole("slider", { name: "Guests served" }).getAttribute("aria-valuetext");
  const [, first, last] = /from ([\d.]+) % to ([\d.]+) %/.exec(told ?? "") ?? [];
  return { first: Number(first) / 100, last: Number(last) / 100 };
}

test("with plain tables the agent learns every recipe, and each word shows its credit", {
  skip: noBrowser,
}, async () => {
  const page = await browser.newPage();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  const status = await learnt(page, "engine=tables&iterations=40&seed=3", 60_000);
  assert.match(status, /Plain tables.*Iteration 40 of 40/s);
  const { first, last } = await ends(page);
  assert.ok(first < 0.3 && last > 0.9, `${first} to ${last}`);
  assert.ok(
    asked.every((to) => to.startsWith(url)),
    "everything comes from the static server",
  );

  // before it learnt, some words were better and some worse than others in the same place
  await page.getByRole("slider", { name: /Episodes of iteration/ }).fill("3");
  await page.getByText("Episodes of iteration 4").waitFor();
  assert.equal(await page.locator(".episodes section").count(), 4);
  const painted = (sign: string) => page.locator(`.episodes .token[class*="${sign}"]`).count();
  assert.ok((await painted("up")) > 0 && (await painted("down")) > 0);
  await page.close();
});

test("without a GPU the page says so, and learns with tables", { skip: noBrowser }, async () => {
  const page = await browser.newPage();
  // a software adapter is not taken unasked
  const status = await learnt(page, "iterations=3", 60_000);
  assert.match(status, /Plain tables.*No GPU: .*Iteration 3 of 3/s);
  await page.close();
});

test("on a software adapter the loop trains a transformer by the kernels of the GPU", {
  skip: noBrowser,
}, async (t) => {
  const page = await browser.newPage();
  const status = await learnt(page, "software&iterations=2", 240_000);
  await page.close();
  if (/Plain tables/.test(status)) return t.skip(`no adapter in this browser: ${status}`);
  assert.match(status, /A transformer .*Iteration 2 of 2.*Done/s);
});
