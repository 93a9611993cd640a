/** Finds a real browser for tests of pages. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome"];
const found = (process.env.PATH ?? "")
  .split(delimiter)
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find((file) => existsSync(file));

/** The reason to skip tests that need a browser; false if there is one. */
export const noBrowser = found === undefined ? `none of ${names.join(", ")} is on the PATH` : false;

/** Maps every host below `.example` to this machine, to test several sites. @param more flags. */
export const openBrowser = (more: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: found ?? "",
    args: ["--no-sandbox", "--host-resolver-rules=MAP *.example 127.0.0.1", ...more],
  });

/** Chromium's software adapter for WebGPU. */
export const softwareGpu: readonly string[] = [
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--enable-features=Vulkan",
];
