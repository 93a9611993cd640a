/** The tools of a real MCP server as an environment: real processes, real messages. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { writeCall } from "../../../src/common/text/toolCalls.ts";
import { isWhetstoneError } from "../../../src/core/errors.ts";
import { randomStream } from "../../../src/core/random.ts";
import { type McpOptions, mcpEnvironment } from "../../../src/env/adapters/mcp.ts";
import type { Environment, Player } from "../../../src/env/environment.ts";
import { evaluate } from "../../../src/train/evaluate.ts";

const server = {
  command: process.execPath,
  args: [fileURLToPath(new URL("./mcpServer.ts", import.meta.url))],
};
const prompts = ["put 2 and 3 into the drawer", "put 4 and 1 into the drawer", "put 5 and 7 into the drawer"];
const numbersIn = (text: string): number[] => [...text.matchAll(/\d+/g)].map(Number);

const drawer = (more: Partial<McpOptions> = {}): Promise<Environment> =>
  mcpEnvironment({
    name: "drawer",
    server,
    splits: {
      train: prompts.map((prompt) => ({
        prompt,
        reference: String(numbersIn(prompt).reduce((a, b) => a + b)),
      })),
    },
    ...more,
  });

const run = (environment: Environment, agent: Player, tasks = 3) =>
  evaluate({
    environment,
    agent,
    split: "train",
    mode: "sampled",
    tasks,
    random: randomStream(1),
    limit: (work) => work(),
  });

/** Adds both numbers, looks, and says what it saw. */
const careful: Player = (_, conversation) => {
  const amounts = numbersIn(conversation[1]!.content);
  const results = conversation.filter((m) => m.role === "tool");
  if (results.length < 2) return writeCall("add", { amount: amounts[results.length]! });
  if (results.length === 2) return `let me see ${writeCall("look", {})}`;
  return `there are ${results[2]!.content}`;
};

test("an agent calls tools until it answers; every episode has a server of its own", async () => {
  const environment = await drawer();
  assert.deepEqual(
    environment.tools?.map((t) => t.name),
    ["add", "look", "flood", "hang", "crash"],
  );
  const { result, trajectories } = await run(environment, careful);
  assert.deepEqual([result.success.mean, result.failed, result.turns], [1, 0, 4]);
  assert.deepEqual(
    trajectories[0]!.turns.map((t) => t.prompt.at(-1)!.content),
    ["put 2 and 3 into the drawer", "there are 2 now", "there are 5 now", "5"],
  );
});

test("one session for all shares what the server remembers", async () => {
  const environment = await drawer({
    session: "shared",
    score: async (_task, _answer, call) => ({ success: 1, drawer: Number(await call("look")) }),
  });
  let tail: Promise<unknown> = Promise.resolve();
  const { trajectories } = await evaluate({
    environment,
    agent: careful,
    split: "train",
    mode: "sampled",
    tasks: 3,
    random: randomStream(1),
    limit: (work) => {
      const mine = tail.then(work);
      tail = mine;
      return mine;
    },
  });
  assert.deepEqual(
    trajectories.map((t) => t.turns.at(-1)!.rewards.drawer),
    [5, 10, 22],
  );
  await run(environment, () => writeCall("crash", {}), 1);
});

test("a shared session that nobody uses is ended, and begun anew", async () => {
  const environment = await drawer({ session: "shared", idleSeconds: 0.05 });
  const first = await run(environment, careful, 1);
  await new Promise((go) => setTimeout(go, 200));
  const second = await run(environment, careful, 1);
  assert.deepEqual([first.result.success.mean, second.result.success.mean], [1, 1]);
});

test("calls before the agent acts, tools that are offered, and wrong calls answered in words", async () => {
  const environment = await drawer({
    tools: ["add", "look"],
    splits: {
      train: [
        { prompt: "what is there", reference: "40", before: [{ tool: "add", arguments: { amount: 40 } }] },
      ],
    },
  });
  const tried = [
    writeCall("add", { amount: "many" }),
    `<tool_call>{"name": "look", "arguments": {}}</tool_call>`,
    writeCall("flood", {}),
  ];
  const { result, trajectories } = await run(
    environment,
    (_, conversation) => tried[conversation.filter((m) => m.role === "assistant").length] ?? "40",
    1,
  );
  const seen = trajectories[0]!.turns.map((t) => t.prompt.at(-1)!.content);
  assert.match(seen[1]!, /expected number/);
  assert.equal(seen[2], "40");
  // a tool that is not offered is no call but an answer
  assert.deepEqual([seen.length, result.success.mean], [3, 0]);
});

test("a server that crashes or hangs costs its episode; what it says is cut", async () => {
  const environment = await drawer({ callSeconds: 2 });
  const does = ["crash", "hang", "flood"];
  const { result, trajectories } = await run(environment, (task, conversation) =>
    conversation.some((m) => m.role === "tool") ? "5" : writeCall(does[Number(task.metadata.index)]!, {}),
  );
  assert.equal(result.failed, 2);
  const flooded = trajectories.find((t) => t.end.kind !== "failed")!;
  assert.equal(flooded.turns[1]!.prompt.at(-1)!.content.length, 20_002);
});

test("a command that is no server, and a tool that is not there, are one clear line", async () => {
  const wrong = { server: { command: process.execPath, args: ["-e", "process.exit(3)"] } };
  await assert.rejects(drawer(wrong), (e) => isWhetstoneError(e) && e.code === "environment.broken");
  await assert.rejects(
    drawer({ tools: ["dance"] }),
    (e) => isWhetstoneError(e) && e.code === "name.unknown" && /one of add, look/.test(e.message),
  );
});
