/** The commands as scripts meet them: processes, their streams and exit codes. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { inProcess } from "./inProcess.ts";

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "whetstone-cli-"));
const before = process.cwd();
process.chdir(folder);
after(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function whetstone(
  args: readonly string[],
  {
    input = "",
    cwd = folder,
    onLine,
    deafAfter,
  }: {
    input?: string;
    cwd?: string;
    onLine?: (line: string, kill: (s: NodeJS.Signals) => void) => void;
    /** The reader of stdout goes away once it has read this. */
    deafAfter?: string;
  } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, ...args], { cwd, env: { ...process.env, NO_COLOR: "1" } });
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk: Buffer) => {
      const before = out.split("\n").length;
      out += chunk.toString();
      if (deafAfter !== undefined && out.includes(deafAfter)) child.stdout.destroy();
      for (const line of out.split("\n").slice(before - 1, -1))
        onLine?.(line, (signal) => child.kill(signal));
    });
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    child.on("close", (code) => resolve({ code, out, err }));
    child.stdin.on("error", () => {}); // a command that failed at once reads nothing
    child.stdin.end(input);
  });
}

const records = ({
  out,
}: {
  readonly out: string;
}): { readonly type?: string; readonly [key: string]: unknown }[] =>
  out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly type?: string });

test("wrong usage: one clear line with the nearest right name, exit code 2", async () => {
  const cases: [string[], RegExp][] = [
    [["envz"], /unknown command 'envz' \(Did you mean envs\?\)/],
    [["train", "--methd", "x"], /unknown option '--methd' \(Did you mean --method\?\)/],
    [["train", "--env", "fact"], /--env: got "fact".*Did you mean facts\?/],
    [["train", "--method", "gpro"], /Did you mean grpo\?/],
    [["train", "--learning-rate", "fast"], /--learning-rate: got "fast", expected a number/],
    [
      ["train", "--learning-rate", "1e30"],
      /learningRate: got 1e\+30, expected a number from 0 to 1000000000/,
    ],
    [["train", "--learning-rate", "-1"], /learningRate: got -1, expected a number from 0 to 1000000000/],
    [["train", "--context-tokens", "1e15"], /--context-tokens: got.*from 8 to 16777216/],
    [["serve", "--port", "99999"], /--port: got "99999", expected a whole number from 0 to 65535/],
    [["train", "--budget", "soon"], /--budget: got "soon"/],
    [["train", "nowhere.ts"], /nowhere\.ts: got no such file/],
    [["eval", "x", "--fail-under", "80"], /a share from 0 to 1/],
    [["play", "fact"], /Did you mean facts\?/],
    [["play", "facts", "--player", "experto"], /Did you mean expert\?/],
    [["play", "facts", "--split", "tran"], /Did you mean train\?/],
    [["play"], /missing required argument 'env'/],
    [["export", "x", "--to", "peft", "--type", "Q8_0", "--out", "p"], /--type: got Q8_0 with --to peft/],
    [["export", "x", "--to", "peft", "--base", "", "--out", "p"], /--base: got nothing, expected the folder/],
    [
      ["export", "x", "--to", "peft", "--base", "./no", "--out", "p"],
      /--base: got \.\/no, which is no folder/,
    ],
    [["export", "x", "--to", "peft", "--base", "a/b/c", "--out", "p"], /--base: got a\/b\/c, which is no/],
    [
      ["inbox"],
      /unknown command 'inbox': it is a page of the dashboard\. Open it with: .*whetstone(?: --)? dashboard$/m,
    ],
    [["sessions"], /unknown command 'sessions': it is a page of the dashboard/],
    [["versions"], /whetstone: versions: name a subcommand: list, add, .*\. See .*versions --help\./],
    [["keys", "--json"], /whetstone: keys: name a subcommand: create, list, revoke\./],
    [["--json", "artefacts"], /whetstone: artefacts: name a subcommand: list, /],
  ];
  const ended = await Promise.all(cases.map(([args]) => inProcess(args)));
  for (const [i, { code, err, out }] of ended.entries()) {
    const [args, words] = cases[i]!;
    assert.match(err, words, args.join(" "));
    assert.equal(err.trim().split("\n").length, 1, err);
    assert.equal(out, "");
    assert.equal(code, 2, args.join(" "));
  }
});

test("every command has help with examples", async () => {
  const { code, out } = await whetstone(["--help"]);
  assert.equal(code, 0);
  for (const name of [
    "eval",
    "export",
    "explain",
    "compare",
    "check",
    "serve",
    "init",
    "train",
    "envs",
    "methods",
    "play",
    "runs",
    "show",
    "doctor",
    "start",
    "serve",
    "backup",
    "restore",
  ]) {
    assert.match(out, new RegExp(`^  ${name} `, "m"));
    const help = await inProcess([name, "--help"]);
    assert.equal(help.code, 0);
    assert.match(help.out, /Examples:\n {2}whetstone /);
    assert.match(help.out, /--json/);
    const options = help.out.split("Options:")[1]!.split("Examples:")[0]!;
    const room = process.stdout.columns ?? 80;
    // examples are commands, which are not broken
    const notes = help.out.split("Examples:")[1]!.replaceAll(/^ {2}.*$/gm, "");
    assert.deepEqual(
      (options + notes).split("\n").filter((line) => line.length > room),
      [],
      `${name}: lines that do not fit`,
    );
  }
});

test("--json: JSON lines on stdout, text on stderr", async () => {
  for (const args of [["envs"], ["methods"], ["doctor"], ["play", "facts", "--player", "expert"]]) {
    const ended = await inProcess([...args, "--json"]);
    assert.equal(ended.code, 0, ended.err);
    assert.ok(records(ended).length > 0);
    assert.notEqual(ended.err, "");
  }
  const before = await inProcess(["--json", "envs"]);
  assert.equal(before.code, 0, before.err);
  assert.ok(records(before).length > 0);
});

test("play by hand works when piped, also when the input ends early", async () => {
  const short = await whetstone(["play", "facts"], { input: "search peru\n" });
  assert.equal(short.code, 0);
  assert.match(short.out, /agent › search peru/);
  assert.match(short.out, /input ended before the episode did/);
  const whole = await whetstone(["play", "facts"], { input: "answer nothing\n" });
  assert.match(whole.out, /✘ no success/);
});

test("play refuses a role that was not declared, and a step that is none, as train does", async () => {
  const fixture = (name: string): string =>
    fileURLToPath(new URL(`../diagnose/environments/broken/${name}`, import.meta.url));
  for (const [name, words] of [
    ["unknown-role.ts", /^whetstone: observe\(\) returned the role "assistant"; expected one of/],
    ["gym-step.js", /^whetstone: act\(\) returned .*unknown "reward", "done"/],
    ["no-episode.js", /^whetstone: start\(\) returned /],
  ] as const) {
    const { code, err } = await inProcess(["play", fixture(name), "--player", "expert"]);
    assert.equal(code, 1, err);
    assert.match(err, words);
  }
});

test("serve with nothing that could answer says so once", async () => {
  const { code, err } = await whetstone(["serve", "--port", "0"], {
    cwd: mkdtempSync(join(folder, "serve-")),
  });
  assert.notEqual(code, 0);
  assert.match(err, /no version that could answer/);
  assert.equal(err.trim().split("\n").length, 1, err);
});

test("play by hand lists what is allowed, and not hundreds of names", async () => {
  const { out } = await whetstone(["play", "guess-my-city"], { input: "is it a capital?\n" });
  assert.match(out, /allowed: which continent is it on \| .* … and \d+ more/);
  assert.ok(Math.max(...out.split("\n").map((line) => line.length)) < 1500);
  assert.match(out, /‹ (yes|no)\n/);
});

test("init writes a project whose own test passes, and refuses a folder that is not empty", async () => {
  const project = join(folder, "my-agent");
  assert.equal((await inProcess(["init", "my-agent"])).code, 0);
  assert.deepEqual(readdirSync(project).sort(), [
    ".github",
    ".gitignore",
    ".npmrc",
    "README.md",
    "config.ts",
    "environment.test.ts",
    "environment.ts",
    "package.json",
    "tsconfig.json",
  ]);
  const npmrc = readFileSync(join(project, ".npmrc"), "utf8");
  assert.match(npmrc, /^ignore-scripts=true$/m, "installing fetches no libraries for GPUs");
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // or the inner runner would report to the outer one
  const code = await new Promise((resolve) =>
    spawn(process.execPath, ["--test"], { cwd: project, env }).on("close", resolve),
  );
  assert.equal(code, 0);
  const again = await inProcess(["init", "my-agent"]);
  assert.equal(again.code, 2);
  assert.match(again.err, /not an empty folder/);
  assert.match((await inProcess(["play", "my-agent/environment.ts", "--player", "expert"])).out, /✔ success/);
});

test("runs and show without a store", async () => {
  const runs = await inProcess(["runs"]);
  assert.equal(runs.code, 0);
  assert.match(runs.out, /No runs yet/);
  const show = await inProcess(["show", "x"]);
  assert.equal(show.code, 2);
  assert.match(show.err, /expected an existing run store/);
});

test("a run: documented lines, a store to look into, eval with a bar to clear", async () => {
  const out = join("runs", "bandit-1");
  const args = [
    "train",
    "--env",
    "bandit",
    "--engine",
    "tabular",
    "--learning-rate",
    "0.1",
    "--iterations",
    "6",
  ];
  const ended = await whetstone([...args, "--out", out, "--json"]);
  assert.equal(ended.code, 0, ended.err);
  const lines = records(ended);
  const iterations = lines.filter((line) => line.type === "iteration");
  assert.equal(iterations.length, 6);
  for (const key of ["iteration", "reward", "success", "seconds"])
    assert.equal(typeof iterations[0]![key], "number");
  const last = lines.at(-1)!;
  assert.equal(last.type, "done");
  assert.deepEqual(
    Object.keys(last.success as object)
      .sort()
      .slice(0, 3),
    ["high", "low", "mean"],
  );

  const runs = records(await inProcess(["runs", "--json"]));
  assert.deepEqual(
    runs.map((r) => [r.name, r.state]),
    [["bandit-1", "done"]],
  );
  assert.match((await inProcess(["show", "bandit"])).out, /success, 6 iterations/);
  assert.match(
    (await inProcess(["show", "bandit-1", "--iteration", "0", "--limit", "1"])).out,
    /iteration 0/,
  );
  const unknown = await inProcess(["show", "bandti-1"]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /Did you mean bandit-1\?/);

  assert.equal((await inProcess(["eval", out, "--tasks", "20", "--fail-under", "0"])).code, 0);
  const barred = await inProcess(["eval", "bandit-1", "--tasks", "20", "--fail-under", "1", "--json"]);
  assert.equal(barred.code, 1, barred.err);
  assert.equal(records(barred)[0]!.passed, false);

  const again = await inProcess([...args, "--out", out]);
  assert.equal(again.code, 2);
  assert.match(again.err, /--resume/);
});

test("Ctrl-C saves and exits 130; --resume goes on", async () => {
  const out = join("runs", "stopped");
  const args = ["--env", "bandit", "--engine", "tabular", "--iterations", "2000", "--out", out];
  let sent = false;
  const ended = await whetstone(["train", ...args, "--json"], {
    onLine: (line, kill) => {
      if (sent || !line.includes('"iteration":3')) return;
      sent = true;
      kill("SIGINT");
    },
  });
  assert.equal(ended.code, 130, ended.err);
  const last = records(ended).at(-1)!;
  assert.equal(last.type, "interrupted");
  let sentAgain = false;
  const resumed = await whetstone(["train", "--out", out, "--resume", "--json"], {
    onLine: (line, kill) => {
      // a second signal, half a second later, would end it at once
      if (sentAgain || !line.includes('"type":"iteration"')) return;
      sentAgain = true;
      kill("SIGINT");
    },
  });
  assert.equal(resumed.code, 130, resumed.err);
  const first = records(resumed).find((line) => line.type === "iteration");
  assert.ok((first?.iteration as number) > (last.iteration as number));
});

test("a config that does not fit, or does not load", async () => {
  mkdirSync(join(folder, "configs"));
  writeFileSync(join(folder, "configs", "unknown.ts"), "export default { metod: 'grpo' };\n");
  writeFileSync(join(folder, "configs", "broken.ts"), "export default {\n");
  const unknown = await inProcess(["train", "configs/unknown.ts"]);
  assert.match(unknown.err, /unknown\.ts: got the unknown key "metod".*Did you mean method\?/);
  assert.equal(unknown.code, 2);
  const broken = await inProcess(["train", "configs/broken.ts"]);
  assert.match(broken.err, /while loading it/);
  assert.equal(broken.code, 2);
  writeFileSync(join(folder, "configs", "missing.ts"), 'import "no-such-package";\nexport default {};\n');
  assert.match((await inProcess(["train", "configs/missing.ts"])).err, /Install the package/);
});

test("a reader that goes away does not end the training", async () => {
  const args = ["--env", "bandit", "--engine", "tabular", "--iterations", "8", "--out", "runs/unheard"];
  const ended = await whetstone(["train", ...args, "--json"], { deafAfter: '"type":"start"' });
  assert.equal(ended.code, 0, ended.err);
  assert.ok(existsSync(join(folder, "runs", "unheard", "final")));
});
