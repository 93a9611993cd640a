/** The projects of `whetstone init`: what is in them, and that each passes its own checks. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inProcess } from "./inProcess.ts";
import { inProject, install, scriptsOf } from "./projects.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-init-"));
const before = process.cwd();
process.chdir(folder);
after(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});

const every = ["README.md", "package.json", "tsconfig.json", ".npmrc", ".gitignore", "config.ts"];

for (const start of ["environment", "agent", "feedback"]) {
  test(`a project that begins with ${start} passes its tests, and is checked on GitHub`, async () => {
    const project = join(folder, start);
    const made = await inProcess(["init", start, "--start", start]);
    assert.equal(made.code, 0, made.err);
    for (const name of every) assert.ok(existsSync(join(project, name)), name);
    const workflow = readFileSync(join(project, ".github/workflows/agent.yml"), "utf8");
    const [, run] = /npx whetstone eval (\S+) --greedy --fail-under 0\.8$/m.exec(workflow) ?? [];
    assert.match(readFileSync(join(project, "config.ts"), "utf8"), new RegExp(`out: "${run}"`));
    for (const [, script] of workflow.matchAll(/npm (?:run )?(\w+)$/gm))
      assert.ok(script === "ci" || scriptsOf(project)[script!], `npm run ${script}`);

    install(project, join(folder, `${start}-packages`));
    const tests = await inProject(project, process.execPath, ["--test"]);
    assert.equal(tests.code, 0, tests.out);
  });
}

test("the compiler has no objection to any file of a project", async () => {
  const both = {
    extends: "./agent/tsconfig.json",
    include: ["agent/*.ts", "environment/*.ts", "feedback/*.ts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(both));
  const { out } = await inProject(folder, "tsc", ["-p", "."]);
  // our own files are read as source here, and have stricter settings of their own
  const own = out.split("\n").filter((line) => /^(agent|environment|feedback)\//.test(line));
  assert.deepEqual(own, []);
  assert.doesNotMatch(out, /^error /m, "the compiler found its configuration and the files");
});

test("the agent's environment is sound, and what its policy begins with is wrong where it has to learn", async () => {
  const project = join(folder, "agent");
  const checked = await inProject(project, "whetstone", ["validate", "environment.ts"]);
  assert.equal(checked.code, 0, checked.out);
  assert.match(checked.out, /expert/);
});

test("feedback: one call of npm start records, learns, and passes the bar of its workflow", async () => {
  const project = join(folder, "feedback");
  const rehearsed = await inProject(project, process.execPath, ["rehearse.ts"]);
  assert.equal(rehearsed.code, 0, rehearsed.out);
  const [, right] = /100 questions answered by the provider, (\d+) of them/.exec(rehearsed.out) ?? [];
  assert.ok(Number(right) > 10 && Number(right) < 40, rehearsed.out);
  const trained = await inProject(project, "whetstone", ["train", "config.ts"]);
  assert.equal(trained.code, 0, trained.out);
  const evaluated = await inProject(project, "whetstone", ["eval", "runs/help-1", "--fail-under", "0.8"]);
  assert.equal(evaluated.code, 0, evaluated.out);
});

test("an unknown start names the known ones; a folder that is not empty stays as it is", async () => {
  const unknown = await inProcess(["init", "other", "--start", "agents"]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /environment, agent, feedback/);
  const again = await inProcess(["init", "agent", "--start", "feedback"]);
  assert.equal(again.code, 2);
  assert.match(again.err, /not an empty folder/);
  assert.ok(!existsSync(join(folder, "agent", "rehearse.ts")));
});
