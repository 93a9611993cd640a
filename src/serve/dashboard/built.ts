/** Where the dashboard's built files are. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WhetstoneError } from "../../core/errors.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * The folder of the built pages: beside the code in the package, made on the way in the repository (under a second).
 * @throws WhetstoneError `config.invalid` where they are not built and cannot be.
 */
export async function builtPages(): Promise<string> {
  // in the package this file is dist/serve/dashboard/built.js, in the repository src/serve/dashboard/built.ts
  const folder = join(root, "dist", "web");
  if (existsSync(join(folder, "index.html"))) return folder;
  const config = join(root, "web", "vite.config.ts");
  if (!existsSync(config)) {
    throw new WhetstoneError("config.invalid", {
      where: "dashboard",
      got: `no pages in ${folder}`,
      expected: "the package as it was published",
      mend: "Install it again.",
    });
  }
  const { build } = await import("vite");
  await build({ configFile: config, logLevel: "warn" });
  return folder;
}
