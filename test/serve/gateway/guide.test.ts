/** A small policy of the local engine writes hints for a model behind an API: from its run to the gateway, as a person does it. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { after, test } from "node:test";
import { z } from "zod";
import { createIo } from "../../../src/cli/output.ts";
import { serveGateway } from "../../../src/cli/serveGateway.ts";
import { localEngine } from "../../../src/engine/local/index.ts";
import { guided } from "../../../src/env/guided.ts";
import { tickets } from "../../../src/env/tickets.ts";
import { findMethod } from "../../../src/methods/catalogue.ts";
import { hintTag } from "../../../src/serve/gateway/withArtefact.ts";
import { openTrafficStore } from "../../../src/store/openTrafficStore.ts";
import { train } from "../../../src/train/run.ts";
import { inProcess } from "../../cli/inProcess.ts";
import { scripted } from "./world.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-guide-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const store = join(folder, "store.sqlite");
const out = join(folder, "guide");

const world = tickets({ faults: 4, symptoms: 9, plans: 2, writers: 2, seed: 1 });
const first = (text: string): string => text.split(" ")[0] ?? "";
/** Pays for a hint that is a word of the ticket; the warm start imitates its first one. */
const environment = guided(world, {
  blackBox: ({ task, hint }) => (task.prompt[0]?.content.includes(hint) ? (task.reference ?? "") : "wait"),
  frame: "hint {hint}",
  hintTokens: 2,
  words: ["hint"],
  pseudoHint: (task) => first(task.prompt[0]?.content ?? ""),
});

const promptShape = z.array(z.object({ role: z.string(), content: z.string() }));
const upstream = await scripted((_, response) => {
  const message = { role: "assistant", content: "Done." };
  response.end(JSON.stringify({ id: "x", choices: [{ index: 0, message, finish_reason: "stop" }] }));
});
after(upstream.close);

/** The command in this process, until it is ended. */
async function serving(flags: Partial<Parameters<typeof serveGateway>[0]>) {
  const ended = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<string>();
  const heard = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const line = z.object({ type: z.string(), url: z.string().optional() }).parse(JSON.parse(`${chunk}`));
      if (line.url !== undefined) begun.resolve(line.url);
      done();
    },
  });
  const io = createIo(["--json"], { out: heard, err: new Writable({ write: (_c, _e, done) => done() }) });
  const closed = serveGateway({ store, port: "0", host: "127.0.0.1", ...flags }, io, () => ended.promise);
  closed.catch(begun.reject);
  const url = await begun.promise;
  return {
    async ask(content: string) {
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "m", messages: [{ role: "user", content }] }),
      });
      assert.equal(answer.status, 200, await answer.text());
      return promptShape.parse(upstream.asked.at(-1)?.messages);
    },
    async end() {
      ended.resolve();
      await closed;
    },
  };
}

/** Hints that are in the store's records, oldest first, with what the client had asked. */
async function recorded() {
  const production = await openTrafficStore(store);
  const all: { readonly hint: string | undefined; readonly prompt: readonly string[] }[] = [];
  for await (const { tags, prompt } of production.responses())
    all.push({ hint: tags[hintTag], prompt: prompt.map(({ content }) => content) });
  await production.close();
  return all;
}

test("a guide that trained here is served in front of a frozen upstream, by one command, or split against it", async () => {
  const engine = localEngine({
    threads: 1,
    size: { width: 16, layers: 1, heads: 1, kvHeads: 1, feedForward: 32 },
  });
  await train(
    {
      environment,
      method: findMethod("grpo").build({ tasks: 2, groupSize: 2 }),
      engine,
      iterations: 1,
      out,
      store,
      contextTokens: 48,
      warmStart: { updates: 60 },
      evaluation: { tasks: 1, validationTasks: 1 },
    },
    () => {},
    new AbortController().signal,
  );
  await engine.dispose();

  const ticket = world.tasks("test")[0]?.prompt[0]?.content ?? "";
  // a model that learnt one iteration also says what stands for an unknown word
  const known = new Set(["<unk>", ...(world.vocabulary?.() ?? []).flatMap((text) => text.split(" "))]);
  const one = await serving({ upstream: upstream.url, model: "base", guide: out, frame: "hint {hint}" });
  const prompts = [];
  for (let i = 0; i < 6; i++) prompts.push(await one.ask(ticket));
  await one.end();
  const records = await recorded();
  assert.equal(records.length, 6);
  assert.ok(records.some(({ hint }) => hint !== undefined && hint !== ""));
  for (const [i, prompt] of prompts.entries()) {
    const { hint = "" } = records[i] ?? {};
    assert.ok(
      hint.split(" ").every((word) => word === "" || known.has(word)),
      hint,
    );
    const said = hint === "" ? [] : [{ role: "system", content: `hint ${hint}` }];
    assert.deepEqual(prompt, [...said, { role: "user", content: ticket }]);
    assert.deepEqual(records[i]?.prompt, [ticket]);
  }

  // the same beside the version without hints: half of the sessions, from the command line alone
  const run = (...args: string[]) => inProcess(["versions", ...args, "--store", store, "--json"]);
  const added = await run("add", "--guide", out, "--frame", "hint {hint}", "--over", "base");
  assert.equal(added.code, 0, added.err);
  const { id, known: there } = z.object({ id: z.string(), known: z.boolean() }).parse(JSON.parse(added.out));
  assert.equal(there, true, "it is what serve made");
  assert.equal((await run("split", `${id}=0.5`, "base=0.5", "--yes")).code, 0);
  const wrong = await run("add", "--guide", out, "--frame", "a hint");
  assert.deepEqual([wrong.code, /--frame: got "a hint".*\{hint\}/.test(wrong.err)], [2, true]);
});
