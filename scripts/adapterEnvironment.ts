/** Finds a graphics adapter for the tests: a real one, or the software adapter of Debian's package chromium. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const chromium = "/usr/lib/chromium";
const driver = `${chromium}/vk_swiftshader_icd.json`;

/** A driver is found by a process's environment as it starts, so each is tried in one of its own. */
function opens(environment: Readonly<Record<string, string>>): boolean {
  const device = JSON.stringify(pathToFileURL(resolve("src/tensor/wgsl/device.ts")).href);
  const open = `(await (await import(${device})).openGpu({ software: true })).close(); process.exit();`;
  const { status } = spawnSync(process.execPath, ["--input-type=module", "--eval", open], {
    env: { ...process.env, ...environment },
    timeout: 60_000,
  });
  return status === 0;
}

/** The variables with which tests run on an adapter; undefined if there is none. */
export function adapterEnvironment(): Readonly<Record<string, string>> | undefined {
  const tests = { WHETSTONE_TEST_DEVICE: "gpu", WHETSTONE_SOFTWARE_GPU: "1" };
  if (opens({})) return tests;
  const software = { LD_LIBRARY_PATH: chromium, VK_ICD_FILENAMES: driver };
  return existsSync(driver) && opens(software) ? { ...tests, ...software } : undefined;
}
