/** kill -9 and empty purses in the middle of a run that pays for replies: none is paid for twice, and the end is the same. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { TalkingChild } from "./talkingChild.ts";
import { folder } from "./world.ts";

const script = fileURLToPath(new URL("./talkingChild.ts", import.meta.url));

/** Says any words that no line such as "not w1 at 2" blames, by the seed; as a reflector, it lists what was blamed. Counts what it is paid for. */
async function provider() {
  const paid: string[] = [];
  let onPaid = (_count: number): void => {};
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { messages, seed = 0 } = JSON.parse(body) as {
        messages: { role: string; content: string }[];
        seed?: number;
      };
      paid.push(body);
      const text = messages.map(({ content }) => content).join("\n");
      const blamed = new Set(text.match(/w\d at \d/g) ?? []);
      const code = [1, 2].map((place) => {
        const left = ["w0", "w1", "w2"].filter((word) => !blamed.has(`${word} at ${place}`));
        return left[seed % left.length] ?? "w0";
      });
      const isReflection = text.includes("Improve what an agent is told");
      const content = isReflection ? `\`\`\`\nnot ${[...blamed].join(" , ")}\n\`\`\`` : code.join(" ");
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          id: `r${paid.length}`,
          object: "chat.completion",
          created: 1,
          model: "tiny",
          choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
          usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
        }),
      );
      onPaid(paid.length);
    });
  });
  await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    paid,
    whenPaid: (heard: typeof onPaid): void => {
      onPaid = heard;
    },
  };
}

interface Ended {
  readonly signal: string | null;
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function child(options: TalkingChild, started: (kill: () => void) => void = () => {}): Promise<Ended> {
  return new Promise((resolve) => {
    const running = spawn(process.execPath, [script, JSON.stringify(options)]);
    let [out, err] = ["", ""];
    running.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    running.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    running.on("close", (code, signal) => resolve({ code, signal, out, err }));
    started(() => running.kill("SIGKILL"));
  });
}

const toldIn = (root: string): string => {
  const file = join(root, "run", "artefact", "system.md");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
};

test("killed and out of money again and again, a run pays for each reply once and ends as an undisturbed one", async () => {
  const calm = await provider();
  const calmRoot = folder();
  const expected = await child({ root: calmRoot, url: calm.url, resume: false });
  assert.equal(expected.code, 0, expected.err);
  assert.match(toldIn(calmRoot), /not w\d at \d/);
  assert.equal(new Set(calm.paid).size, calm.paid.length, "nothing is asked twice");

  const rough = await provider();
  const root = folder();
  const killed = await child({ root, url: rough.url, resume: false }, (kill) =>
    rough.whenPaid((count) => {
      if (count === 19) kill();
    }),
  );
  assert.equal(killed.signal, "SIGKILL");
  const before = rough.paid.length;
  const poor = await child({ root, url: rough.url, resume: true, calls: 8 });
  assert.equal(poor.code, 1);
  assert.match(poor.err, /budget\.spent/);
  assert.ok(rough.paid.length - before <= 8, "the limit holds");
  const done = await child({ root, url: rough.url, resume: true });
  assert.equal(done.code, 0, done.err);
  assert.equal(done.out, expected.out);
  assert.equal(toldIn(root), toldIn(calmRoot));
  assert.notEqual(toldIn(root), "");
  assert.deepEqual(new Set(rough.paid), new Set(calm.paid), "the same questions");
  // two requests at a time: the kill may cut replies that were on their way, and nothing else
  assert.ok(rough.paid.length - new Set(rough.paid).size <= 2, `${rough.paid.length} requests`);
});
