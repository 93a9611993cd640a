/** The projects of `whetstone init`: what is in them, and that each passes its own checks. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
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

const agents = fileURLToPath(new URL("./agents", import.meta.url));
const namesIn = (project: string): readonly string[] =>
  [...readFileSync(join(project, "tools.ts"), "utf8").matchAll(/"name": "(\w+)"/g)].map(([, name]) => name!);

test("--from: tools of the AI SDK that nobody exports are those of the agent's first request", async () => {
  const made = await inProcess(["init", "journeys", "--from", join(agents, "aiSdk.ts")]);
  assert.equal(made.code, 0, made.err);
  const project = join(folder, "journeys");
  assert.deepEqual(namesIn(project), ["getWeather", "book_hotel"]);
  assert.match(
    readFileSync(join(project, "tools.ts"), "utf8"),
    /instructions: string = "help with a journey"/,
  );
  install(project, join(folder, "journeys-packages"));
  const checked = await inProject(project, "whetstone", ["validate", "environment.ts"]);
  assert.equal(checked.code, 0, checked.out);
  assert.match(checked.out, /expert +\d+ +100\.0 %/);
  const tests = await inProject(project, process.execPath, ["--test"]);
  assert.equal(tests.code, 0, tests.out);
});

test("--from: exported tools; what the file would write is not written; a list is left to its owner", async () => {
  const harm = join(folder, "harm.txt");
  process.env.WHETSTONE_TEST_WRITE = harm;
  try {
    const made = await inProcess(["init", "orders", "--from", join(agents, "exported.ts")]);
    assert.equal(made.code, 2);
    assert.match(made.err, /Access to this API has been restricted/);
  } finally {
    delete process.env.WHETSTONE_TEST_WRITE;
  }
  assert.ok(!existsSync(harm));
  assert.equal((await inProcess(["init", "orders", "--from", join(agents, "exported.ts")])).code, 0);
  assert.deepEqual(namesIn(join(folder, "orders")), ["lookUp", "refund"]);
  assert.match(readFileSync(join(folder, "orders", "environment.ts"), "utf8"), /Left out, .*: refund\./);
});

test("--from: the official client, and a file without an agent", async () => {
  const made = await inProcess(["init", "numbers", "--from", join(agents, "openai.ts")]);
  assert.equal(made.code, 0, made.err);
  assert.deepEqual(namesIn(join(folder, "numbers")), ["where"]);
  const none = await inProcess(["init", "nothing", "--from", join(agents, "..", "projects.ts")]);
  assert.notEqual(none.code, 0);
  assert.match(none.err, /no tools in .*projects\.ts.*export const tools/);
  assert.ok(!existsSync(join(folder, "nothing")));
  const both = await inProcess(["init", "nothing", "--from", "a.ts", "--start", "agent"]);
  assert.notEqual(both.code, 0);
});

test("the compiler has no objection to any file of a project", async () => {
  const project = join(folder, "agent");
  const include = ["agent", "environment", "feedback", "journeys"].map((name) => `../${name}/*.ts`);
  writeFileSync(join(project, "tsconfig.all.json"), JSON.stringify({ extends: "./tsconfig.json", include }));
  const { out } = await inProject(project, "tsc", ["-p", "tsconfig.all.json"]);
  // our own files are read as source here, and have stricter settings of their own
  const own = out
    .split("\n")
    .filter((line) => /^(error|\w+\.ts|\.\.\/(environment|feedback|journeys)\/)/.test(line));
  assert.deepEqual(own, []);
});
