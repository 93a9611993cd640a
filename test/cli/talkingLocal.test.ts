/** A learner without weights against a real OpenAI-compatible server, whose model is one of the local engine. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Message, Task } from "../../src/core/types.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { codewords } from "../../src/env/codewords.ts";
import { sft } from "../../src/methods/baseline/sft/method.ts";
import { openaiServer, type Sampler } from "../../src/serve/openaiServer.ts";
import { readArtefactFolder } from "../../src/store/artefactFolder.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { tiny } from "../train/world.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-talking-local-"));
const before = process.cwd();
process.chdir(folder);
after(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});

/** One word of three is right for every question, which nothing but examples can tell. */
const options = { questions: 12, same: true, length: 1, vocabulary: 3 };
const source = new URL("../../src/env/codewords.ts", import.meta.url).href;
writeFileSync(
  join(folder, "config.ts"),
  `import { codewords } from ${JSON.stringify(source)};
const env = codewords(${JSON.stringify(options)});
export default { env, engine: "chat", method: "bootstrap-few-shot", iterations: 4, evaluation: { tasks: 12, every: 0 } };\n`,
);

/** Learns in a second to say what the examples before a question say, and any of the words where there are none. */
async function followerOfExamples(engine: Engine) {
  const world = codewords(options);
  const user: Message = { role: "user", content: "q0" };
  const lessons = (task: Task, i: number): Task[] =>
    [0, 1, 2, 3, 4].map((shown) => {
      const word = `w${i % 3}`;
      const examples = Array.from({ length: shown }, (): Message[] => [
        user,
        { role: "assistant", content: word },
      ]);
      const prompt = [...examples.flat(), user];
      return { ...task, id: `${task.id}/${shown}`, metadata: { ...task.metadata, code: [word] }, prompt };
    });
  const { policy } = await trainInMemory({
    environment: { ...world, tasks: (split) => world.tasks(split).flatMap(lessons) },
    method: sft.build({ tasks: 60, learningRate: 1e-2, minibatches: 1 }),
    engine,
    seed: 1,
    iterations: 80,
    contextTokens: 96,
  });
  return policy;
}

test("bootstrap-few-shot against a server of the local engine: its calls, its tokens, its price, and examples that help", async () => {
  const engine = tiny();
  const policy = await followerOfExamples(engine);
  const served = { calls: 0, read: 0, written: 0 };
  // the learner knows an address and a key: what is counted here came over HTTP
  const counted: Sampler = {
    ...policy,
    async sample(requests) {
      const samples = await policy.sample(requests);
      served.calls += requests.length;
      for (const { prompt } of requests) served.read += prompt.length;
      for (const { action } of samples) served.written += action.length;
      return samples;
    },
  };
  const server = await openaiServer(counted, { name: "tiny" });
  try {
    const { baseURL, apiKey } = server.openai;
    process.env.SERVER_KEY = apiKey;
    const args = `train config.ts --url ${baseURL} --model tiny --key-env SERVER_KEY --price 100,200 --cache replies --out run --json`;
    const { code, out, err } = await inProcess(args.split(" "));
    assert.equal(code, 0, err);

    const { calls, read, written } = served;
    assert.ok(calls > 24 && read > 4 * calls && written >= calls, JSON.stringify(served));
    const dollars = (100 * read + 200 * written) / 1e6;
    const said = /: (\d+) calls .*, (\d+) tokens read, (\d+) written, \$([\d.]+)/.exec(err)?.slice(1);
    assert.deepEqual(said?.slice(0, 3).map(Number), [calls, read, written]);
    assert.ok(Math.abs(Number(said?.[3]) - dollars) < 0.01 * dollars, `$${said?.[3]} of $${dollars}`);

    const lines = out.trim().split("\n");
    const records = lines.map((line): { type: string; when?: string; success?: { mean: number } } =>
      JSON.parse(line),
    );
    const measured = (when: string) =>
      records.find((one) => one.type === "evaluation" && one.when === when)?.success?.mean ?? Number.NaN;
    assert.ok(measured("after") >= measured("before") + 0.3, `${measured("before")}, ${measured("after")}`);

    const { artefact } = (await readArtefactFolder("run/artefact")).version;
    assert.ok(artefact.kind === "instructions");
    const replies = artefact.examples.map(({ messages }) => messages.at(-1)?.content);
    assert.ok(replies.length > 0 && replies.every((reply) => reply === "w0"), replies.join(", "));
  } finally {
    await server.close();
    await engine.dispose();
  }
});
