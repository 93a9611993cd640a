/** A pretrained model on a user's own environment: looked at before training, measured, watched, trained. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chatServer } from "./chatServer.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-pretrained-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const model = fileURLToPath(new URL("../engine/local/fixtures/gguf/qwen3.gguf", import.meta.url));

/** Two turns; a reply of even length is right. All texts try to move the terminal's cursor. */
const environment = join(folder, "parity.ts");
writeFileSync(
  environment,
  `const tasks = (split) => Array.from({ length: 12 }, (_, i) => ({
  id: split + "/" + i, seed: i, metadata: {},
  prompt: [{ role: "user", content: "the user in\\n" + split + " \\u001b[31man answer " + i }],
}));
export default {
  name: "parity", summary: "replies of even length", abilities: new Set(), roles: ["agent"],
  splits: ["train", "validation", "test"], limits: { turns: 2, actionTokens: 6 }, tasks,
  async start() {
    let turn = 0;
    return {
      observe: async () => ({ role: "agent", observation: { messages: turn === 0 ? [] : [{ role: "user", content: "use" }] } }),
      act: async ({ content }) => {
        const success = content.length % 2 === 0;
        const end = { kind: "done", reason: "over\\u0007", success };
        return { rewards: { even: Number(success) }, text: "\\u009b2J", ...(++turn === 2 && { end }) };
      },
    };
  },
};\n`,
);

interface Row {
  readonly type: string;
  readonly [key: string]: unknown;
}
const rows = (out: string, type: string): readonly Row[] =>
  out
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row)
    .filter((row) => row.type === type);

/** Nothing of an untrusted text may reach a terminal as a control character. */
function requirePrintable(text: string): void {
  assert.doesNotMatch(text, /[^\P{Cc}\n]/u);
  assert.match(text, /\\u001b\[31m/);
}

interface EpisodeRow extends Row {
  readonly roles: readonly [
    { readonly turns: readonly EpisodeTurn[]; readonly end: { readonly success: boolean } },
  ];
}
interface EpisodeTurn {
  readonly prompt: readonly { readonly role: string }[];
  readonly action: { readonly content: string };
  readonly actionIds: readonly number[];
  readonly rewards: { readonly even: number };
}

test("eval measures a model that no run trained, and prints episodes", async () => {
  const asked = ["--env", environment, "--tasks", "4", "--show", "2"];
  const { code, out, err } = await inProcess(["eval", "--model", model, ...asked, "--greedy"]);
  assert.equal(code, 0, err);
  requirePrintable(out);
  assert.equal(out.match(/^test\/\d+, reward [012]$/gm)?.length, 2, out);
  assert.match(out, /user ‹ the user in\n +test .*an answer 0\n +agent › /);
  assert.match(out, /turn 2: even [01], cut at the token limit/);
  assert.match(out, /✔ success: over\\u0007|✘ no success: over\\u0007/);
  assert.match(out, /^test, greedy: success .*4 tasks/m);

  const json = await inProcess(["eval", model, ...asked, "--greedy", "--json"]);
  const episodes = rows(json.out, "episode") as EpisodeRow[];
  assert.deepEqual(
    episodes.map(({ task }) => task),
    ["test/0", "test/1"],
  );
  const [{ turns }] = episodes[0]!.roles;
  assert.deepEqual(
    turns[1]!.prompt.map(({ role }) => role),
    ["user", "assistant", "user"],
  );
  assert.equal(episodes[0]!.reward, turns[0]!.rewards.even + turns[1]!.rewards.even);
  assert.ok(
    out.includes(turns[0]!.action.content.replaceAll("\n", "\n      ")),
    "the file as argument is the same model",
  );
  const [said] = rows(json.out, "evaluation");
  assert.equal(said!.mode, "greedy");
  assert.equal(said!.tasks, 4);
});

test("eval samples as it is told, and says how", async () => {
  const asked = ["eval", "--model", model, "--env", environment, "--tasks", "6", "--show", "6", "--json"];
  const replies = async (...how: string[]): Promise<{ ids: number[][]; said: Row }> => {
    const { code, out, err } = await inProcess([...asked, ...how]);
    assert.equal(code, 0, err);
    const turns = (rows(out, "episode") as EpisodeRow[]).flatMap(({ roles }) => roles[0].turns);
    return { ids: turns.map(({ actionIds }) => [...actionIds]), said: rows(out, "evaluation")[0]! };
  };
  const greedy = await replies("--greedy");
  const nucleus = await replies("--top-p", "0.000001", "--temperature", "0.9");
  assert.deepEqual(nucleus.ids, greedy.ids, "of so small a nucleus the most probable token is left");
  assert.equal(nucleus.said.topP, 0.000001);
  assert.equal(nucleus.said.temperature, 0.9);
  const sampled = await replies();
  assert.notDeepEqual(sampled.ids, greedy.ids);
  const short = await replies("--reply-tokens", "2");
  assert.ok(short.ids.every((ids) => ids.length <= 2));
  assert.equal(short.said.replyTokens, 2);
});

test("a chat model gets top-p and the limit of a reply with every request", async () => {
  const bodies: Record<string, unknown>[] = [];
  const url = await chatServer((body) => {
    bodies.push(body as Record<string, unknown>);
    return "even";
  });
  const where = ["--chat", url, "--model", "tiny", "--cache", join(folder, "cache")];
  const how = ["--top-p", "0.5", "--temperature", "0.3", "--reply-tokens", "7"];
  const { code, err } = await inProcess(["eval", ...where, "--env", environment, "--tasks", "1", ...how]);
  assert.equal(code, 0, err);
  const { top_p, temperature, max_tokens } = bodies[0]!;
  assert.deepEqual({ top_p, temperature, max_tokens }, { top_p: 0.5, temperature: 0.3, max_tokens: 7 });
});

test("play shows a model's episode turn by turn", async () => {
  const asked = ["play", environment, "--split", "test", "--task", "3"];
  const { code, out, err } = await inProcess([...asked, "--model", model, "--greedy"]);
  assert.equal(code, 0, err);
  requirePrintable(out);
  assert.match(
    out,
    /user ‹ the user in\ntest .*an answer 3\nagent › [\s\S]*turn 1: even [01][\s\S]*user ‹ use\nagent › /,
  );
  assert.match(out, /(✔|✘ no) success: over\\u0007 · 2 turns · even [012]/);
  const run = await inProcess([...asked, "--policy", model, "--greedy", "--json"]);
  assert.deepEqual(
    rows(run.out, "turn").map(({ role, turn }) => [role, turn]),
    [
      ["agent", 1],
      ["agent", 2],
    ],
  );
});

test("validate prints a model's replies, and how many groups would teach", async () => {
  const { code, out, err } = await inProcess(["validate", environment, "--model", model, "--episodes", "4"]);
  assert.equal(code, 0, err + out);
  requirePrintable(out);
  assert.equal(out.match(/^train\/\d+, reward [012]$/gm)?.length, 10, out);
  assert.match(out, /success .* of 80 episodes; of 10 groups of 8, some but not all succeed in \d+ of 10/);
  assert.match(out, /9 checks: .*signal\.$/m);

  const json = await inProcess(
    ["validate", environment, "--model", model, "--episodes", "4", "--json"].concat([
      "--replies",
      "3",
      "--group-size",
      "4",
      "--temperature",
      "0",
    ]),
  );
  assert.equal(rows(json.out, "episode").length, 3);
  const [said] = rows(json.out, "replies");
  assert.deepEqual([said!.groups, said!.mixed, said!.differing], [3, 0, 0], "greedy replies are all alike");
  const [{ findings }] = rows(json.out, "validation") as unknown as [{ findings: { check: string }[] }];
  assert.ok(findings.some(({ check }) => check === "signal"));
});

test("validate keeps to its time, and counts whole groups only", async () => {
  const slow = join(folder, "slow.ts");
  writeFileSync(
    slow,
    readFileSync(environment, "utf8").replace(
      "const success",
      "await new Promise((go) => setTimeout(go, content.includes('hello') ? 0 : 700)); const success",
    ),
  );
  const asked = ["--replies", "2", "--group-size", "2", "--episodes", "1", "--seconds", "2"];
  const began = performance.now();
  const { out } = await inProcess(["validate", slow, "--model", model, ...asked]);
  assert.ok(performance.now() - began < 30_000);
  assert.match(out, /time was too short for a whole group/);
});

test("validate ends an environment that a reply of the model blocks", async () => {
  const blocking = join(folder, "blocking.ts");
  writeFileSync(
    blocking,
    readFileSync(environment, "utf8")
      .replace("const success", "while (!content.includes('hello')); const success")
      .replace("actionTokens: 6 }", "actionTokens: 6, seconds: 1 }, vocabulary: () => ['hello']"),
  );
  const asked = ["--replies", "1", "--group-size", "2", "--episodes", "1"];
  const { code, out } = await inProcess(["validate", blocking, "--model", model, ...asked]);
  assert.equal(code, 1);
  assert.match(out, /error: A call in an episode of the model blocked its thread for more than 1 s/);
});

test("train measures and samples as it is told, and keeps to it when it goes on", async () => {
  const out = join(folder, "run");
  const run = ["train", "--env", environment, "--model", model, "--out", out, "--json"];
  const small = ["--tasks", "2", "--group-size", "2", "--iterations", "1", "--context-tokens", "64"];
  const how = ["--eval-tasks", "3", "--eval-every", "1", "--reply-tokens", "4"];
  const { code, out: lines, err } = await inProcess([...run, ...small, ...how]);
  assert.equal(code, 0, err);
  assert.deepEqual(
    rows(lines, "evaluation").map(({ when, split, mode, tasks }) => [when, split, mode, tasks]),
    [
      ["before", "test", "greedy", 3],
      ["during", "validation", "greedy", 12],
      ["during", "validation", "greedy", 12],
      ["after", "test", "greedy", 3],
    ],
    "a pretrained model is measured greedily",
  );
  const config = JSON.parse(readFileSync(join(out, "run.json"), "utf8"));
  assert.deepEqual(config.evaluation, { tasks: 3, every: 1, validationTasks: 50, mode: "greedy" });

  const other = await inProcess([...run, "--resume", "--eval-mode", "both"]);
  assert.equal(other.code, 2);
  assert.match(other.err, /differ .*: evaluation\.mode \("both", begun with "greedy"\),/);
  const longer = await inProcess([...run, "--resume", "--reply-tokens", "5"]);
  assert.match(longer.err, /differ .*: replyTokens \(5, begun with 4\),/);

  const asked = ["eval", out, "--tasks", "2", "--greedy", "--show", "2", "--json"];
  const measured = await inProcess(asked);
  const turns = (rows(measured.out, "episode") as EpisodeRow[]).flatMap(({ roles }) => roles[0].turns);
  assert.ok(
    turns.every(({ actionIds }) => actionIds.length <= 4),
    "a run's own limit holds in its evaluation",
  );
});

test("one clear error for each wrong option", async () => {
  const pretrained = ["--model", model, "--env", environment];
  for (const [args, words] of [
    [["eval", ...pretrained, "--top-p", "0"], /--top-p: got "0", expected a share above 0/],
    [["eval", ...pretrained, "--temperature", "-1"], /--temperature: got "-1"/],
    [["eval", ...pretrained, "--greedy", "--top-p", "0.5"], /--top-p: got 0\.5 for greedy replies/],
    [["eval", ...pretrained, "--greedy", "--temperature", "1"], /--temperature: got 1 for greedy replies/],
    [["eval", ...pretrained, "--reply-tokens", "0"], /--reply-tokens: got "0"/],
    [["eval", ...pretrained, "--show", "0"], /--show: got "0"/],
    [["eval", "--tools-in-text", "--env", environment], /--tools-in-text: got no model/],
    [["eval", "--env", environment], /nothing to measure, expected a run, a checkpoint, --model or --chat/],
    [["eval", model, ...pretrained], /--model: got .* beside it/],
    [["eval", "--model", model], /--env: got no environment/],
    [["eval", "--model", "none.gguf", "--env", environment], /none\.gguf.*which is not there/],
    [
      ["eval", "--suite", "multiturninstruct", "--player", "expert", "--show", "1"],
      /--show: got 1 beside --suite/,
    ],
    [["play", environment, "--temperature", "0.5"], /--temperature: got no model/],
    [["play", environment, "--model", model, "--player", "expert"], /--player: got expert, and a model/],
    [["play", environment, "--model", model, "--policy", "x"], /got|store/],
    [["validate", environment, "--replies", "3"], /--replies: got no model/],
    [["validate", environment, "--model", model, "--group-size", "1"], /--group-size: got "1"/],
    [
      ["train", "--env", environment, "--eval-mode", "gredy"],
      /--eval-mode: got "gredy".*Did you mean greedy\?/,
    ],
    [["train", "--env", environment, "--eval-tasks", "-1"], /--eval-tasks: got "-1"/],
    [["train", "--env", environment, "--reply-tokens", "0"], /--reply-tokens: got "0"/],
  ] as const) {
    const { code, err } = await inProcess(args);
    assert.notEqual(code, 0, args.join(" "));
    assert.match(err, words);
    assert.equal(err.trim().split("\n").length, 1, err);
  }
});

test("a file of an architecture that is not known gets one line, which cannot control the terminal", async () => {
  const bytes = readFileSync(model);
  const key = "general.architecture";
  bytes.write("\u001b[31m", bytes.indexOf(key) + key.length + 12); // in place of qwen3
  const strange = join(folder, "strange.gguf");
  writeFileSync(strange, bytes);
  for (const args of [
    ["eval", "--env", environment],
    ["play", environment],
    ["validate", environment],
  ]) {
    const { code, err } = await inProcess([...args, "--model", strange]);
    assert.notEqual(code, 0);
    assert.match(
      err,
      /^(Episodes: .*\n)?whetstone: .*strange\.gguf: got a model of architecture "\\u001b\[31m", expected .*\n$/,
    );
  }
});
