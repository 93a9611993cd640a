import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join, sep } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { asCalled, calledAs } from "../../src/cli/called.ts";

const path = (text: string): string => text.replaceAll("/", sep);

test("in a clone, in a project that has the package, through npx, and installed for all", () => {
  for (const [root, cwd, called] of [
    ["/clone", "/clone", "npm run -s whetstone --"],
    ["/clone", "/clone/docs", "npm run -s whetstone --"],
    ["/clone", "/clone-2", "whetstone"],
    ["/mine/node_modules/whetstone", "/mine", "npx whetstone"],
    ["/mine/node_modules/whetstone", "/mine/runs", "npx whetstone"],
    ["/mine/node_modules/whetstone", "/elsewhere", "whetstone"],
    ["/home/.npm/_npx/ab12/node_modules/whetstone", "/elsewhere", "npx whetstone"],
    ["/usr/lib/node_modules/whetstone", "/home/me", "whetstone"],
  ])
    assert.equal(calledAs(path(root!), path(cwd!)), called, `${root} in ${cwd}`);
});

test("commands in a text are written as they are called, and nothing else is", () => {
  const text =
    "whetstone: got nothing. See whetstone runs, or whetstone --help; npx whetstone show x; the whetstone package; store whetstone.sqlite";
  assert.equal(
    asCalled(text, "npx whetstone"),
    "whetstone: got nothing. See npx whetstone runs, or npx whetstone --help; npx whetstone show x; the whetstone package; store whetstone.sqlite",
  );
});

test("in this repository what is printed runs as it is", () => {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const main = join(root, "src", "cli", "main.ts");
  const help = execFileSync(process.execPath, [main, "show", "--help"], { cwd: root, encoding: "utf8" });
  const command = /Examples:\n\s+(\S.*)/.exec(help)?.[1] ?? "";
  assert.match(command, /^npm run -s whetstone -- show /);
});
