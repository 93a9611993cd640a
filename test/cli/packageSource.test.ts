import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { packageSource } from "../../src/cli/packageSource.ts";
import { environmentStart } from "../../src/cli/project/environmentStart.ts";
import { projectFiles } from "../../src/cli/project/files.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-source-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A project that depends on the package as stated. */
function installed(name: string, whetstone: string): string {
  const project = join(folder, name);
  mkdirSync(join(project, "node_modules", "whetstone"), { recursive: true });
  writeFileSync(join(project, "package.json"), JSON.stringify({ dependencies: { whetstone } }));
  return join(project, "node_modules", "whetstone");
}

test("a new project installs the package that made it: the same tarball, or the same version", () => {
  const tarball = packageSource(installed("fromTarball", "file:../whetstone-0.1.0.tgz"));
  assert.equal(tarball, `file:${join(folder, "whetstone-0.1.0.tgz")}`);
  assert.equal(packageSource(installed("fromRegistry", "^0.1.2")), "^0.1.2");
  assert.equal(packageSource(join(folder, "a clone")), undefined);
  const { dependencies } = JSON.parse(projectFiles("my-agent", environmentStart, tarball)["package.json"]!);
  assert.deepEqual(dependencies, { whetstone: tarball });
});
