/** A real browser for tests of what runs in pages, where the machine has one. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome"];
const found = (process.env.PATH ?? "")
  .split(delimiter)
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find((file) => existsSync(file));

/** Why a test that needs a browser is skipped here; false where it is not. */
export const noBrowser = found === undefined ? `none of ${names.join(", ")} is on the PATH` : false;

/** Every name below `.example` leads to this machine there, as sites of others have theirs do. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: found ?? "",
    args: ["--no-sandbox", "--host-resolver-rules=MAP *.example 127.0.0.1"],
  });
