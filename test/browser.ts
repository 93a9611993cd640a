/** A real browser for tests of what runs in pages, where the machine has one. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const found = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((file) =>
  existsSync(file),
);

/** Why a test that needs a browser is skipped here; false where it is not. */
export const noBrowser = found === undefined ? "no Chromium in /usr/bin" : false;

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: found ?? "", args: ["--no-sandbox"] });
