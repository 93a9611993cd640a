/** examples/browser, built and served as static files, in a browser with a software adapter. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { openBrowser, softwareGpu } from "../browser.ts";
import { staticServer } from "./staticServer.ts";

const example = join(import.meta.dirname, "..", "..", "examples", "browser");
export interface Served {
  readonly url: string;
  readonly browser: Browser;
  close(): Promise<void>;
}

export async function servedPage(): Promise<Served> {
  const outDir = mkdtempSync(join(tmpdir(), "whetstone-page-"));
  const { build } = await import("vite");
  await build({ configFile: join(example, "vite.config.ts"), logLevel: "warn", build: { outDir } });
  const server = await staticServer(outDir);
  const browser = await openBrowser(softwareGpu);
  return {
    url: server.url,
    browser,
    async close() {
      await browser.close();
      server.close();
    },
  };
}

/** Opens the page, starts the learning and waits for its end. @returns the page's last word about it. */
export async function learnt(page: Page, address: string, ms: number): Promise<string> {
  page.setDefaultTimeout(ms);
  await page.goto(address);
  await page.getByRole("button", { name: "Let it learn" }).click();
  await page.getByText(/Done\.|Failed:/).waitFor();
  return page.getByRole("status").innerText();
}

/** First and last success of the chart, as it tells them to those who do not see it. */
export async function ends(page: Page): Promise<{ readonly first: number; readonly last: number }> {
  const told = await page.getByRole("slider", { name: "Guests served" }).getAttribute("aria-valuetext");
  const [, first, last] = /from ([\d.]+) % to ([\d.]+) %/.exec(told ?? "") ?? [];
  return { first: Number(first) / 100, last: Number(last) / 100 };
}
