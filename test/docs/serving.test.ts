/** docs/serving.md, with a fake provider and a small model's file in place of the run. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { after, test } from "node:test";
import OpenAI from "openai";
import { createIo } from "../../src/cli/output.ts";
import { serveGateway } from "../../src/cli/serveGateway.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { inProcess } from "../cli/inProcess.ts";
import { scripted } from "../serve/gateway/world.ts";

const root = join(import.meta.dirname, "../..");
const file = join(root, "test/engine/local/fixtures/gguf/smollm.gguf");
const folder = mkdtempSync(join(tmpdir(), "whetstone-serving-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const provider = await scripted((_, response) => {
  const choices = [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }];
  response.setHeader("content-type", "application/json").end(JSON.stringify({ id: "x", choices }));
});
process.env.OPENAI_API_KEY = "sk-provider";

/** The commands of the page that begin so, for what is here. */
const said = [...readFileSync(join(root, "docs/serving.md"), "utf8").matchAll(/^npx whetstone (.*)$/gm)]
  .map(([, line]) => line!.replace(/ +#.*/, ""))
  .map((line) => line.replace("https://api.openai.com/v1", provider.url).replace("runs/support", file))
  .map((line) => line.replaceAll("support-final", "gguf-smollm.gguf").split(" "));
const commands = (...beginning: string[]) =>
  said.filter((args) => beginning.every((word, i) => args[i] === word));

async function run(args: readonly string[]): Promise<string> {
  const { code, out, err } = await inProcess([...args, "--store", join(folder, "store.sqlite")]);
  assert.equal(code, 0, `${args.join(" ")}\n${err}`);
  return out + err;
}

/** The server of the page, in this process. */
async function serving(args: readonly string[]) {
  const flags = Object.fromEntries(
    args.flatMap((word, i) => (word.startsWith("--") ? [[word.slice(2), args[i + 1]!]] : [])),
  );
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
  const all = { host: "127.0.0.1", port: "0", store: join(folder, "store.sqlite"), ...flags };
  let running = Promise.resolve();
  const url = await new Promise<string>((resolve, reject) => {
    const io = {
      ...createIo([], { out: sink, err: sink }),
      record: (value: unknown) => resolve((value as { url: string }).url),
    };
    running = serveGateway(all, io, () => stopped);
    running.catch(reject);
  });
  return {
    url,
    async close() {
      stop();
      await running;
    },
  };
}

test("docs/serving.md: a trained model answers beside a provider, is judged by feedback, and takes over", async () => {
  for (const args of commands("versions", "add")) await run(args);
  const [first, halves] = commands("versions", "split");
  await run(first!);
  const server = await serving(commands("serve", "--channels")[0]!);
  try {
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
    const ask = async (session: string) => {
      const { response, data } = await client.chat.completions
        .create(
          { model: "m", messages: [{ role: "user", content: "one" }], max_tokens: 4 },
          { headers: { "x-whetstone-session": session } },
        )
        .withResponse();
      return { id: data.id, version: response.headers.get("x-whetstone-version")! };
    };
    const { id } = await ask("first");
    const one = await recorded(id);
    assert.ok(
      [0.95, 0.05].some((p) => Math.abs(one.propensity - p) < 1e-9),
      `${one.propensity}`,
    );

    await run(halves!);
    const answered = new Set<string>();
    for (let i = 0; answered.size < 2; i++) {
      const { id, version } = await ask(`s${i}`);
      answered.add(version);
      const value = version.startsWith("gguf") ? 1 : 0;
      const body = JSON.stringify({ response: id, kind: "score", channel: "thumbs", value });
      const headers = { "content-type": "application/json" };
      assert.equal((await fetch(`${server.url}/v1/feedback`, { method: "POST", headers, body })).status, 201);
    }
    assert.equal(provider.headers[0]?.authorization, "Bearer sk-provider", "not the agent's key");
    assert.match(await run(commands("versions", "judge")[0]!), /gguf-smollm.* against gpt-5-mini/);

    const [better, back] = commands("versions", "promote");
    for (const [args, name] of [
      [commands("versions", "rollback")[0]!, "gpt"],
      [halves!, undefined],
      [better!, "gguf"],
      [back!, "gpt"],
    ] as const) {
      await run(args);
      // new sessions, until five in a row have the one version that is left
      for (let i = 0, same = 0; name !== undefined && same < 5; i++) {
        const { version } = await ask(`${args.join(" ")} ${i}`);
        same = version.startsWith(name) ? same + 1 : 0;
      }
    }
  } finally {
    await server.close();
    await provider.close();
  }
});

async function recorded(id: string): Promise<{ readonly propensity: number }> {
  const production = await openTrafficStore(join(folder, "store.sqlite"));
  try {
    for (;;) {
      for await (const response of production.responses()) if (response.id === id) return response;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    await production.close();
  }
}
