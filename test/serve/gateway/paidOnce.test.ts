/** An upstream that breaks connections, and how often it was sent each call: every one that it got whole is paid for. */
import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { test } from "node:test";
import { upstream } from "../../../src/serve/gateway/upstream.ts";
import { world } from "./world.ts";

const answer = JSON.stringify({
  id: "x",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
});
const chunk = `data: ${answer.replace("message", "delta")}\n\n`;
const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${answer.length}\r\n\r\n`;
const streamed = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const piece = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

/** What is written of an answer before the connection breaks. */
const stages = {
  "while the call comes in": "",
  "before the head": "",
  "within the head": head.slice(0, 30),
  "after the head": head,
  "within the body": `${head}${answer.slice(0, 20)}`,
  "within a stream": `${streamed}${piece(chunk)}${piece(chunk).slice(0, 20)}`,
  "between two events of a stream": `${streamed}${piece(chunk)}`,
} as const;
type Stage = keyof typeof stages;

interface Call {
  /** Which it is of its connection, from 0. */
  readonly nth: number;
  readonly key: string | undefined;
}

/** Breaks where it is told to, and answers every other call. */
async function breaking(
  breaks: (call: Call, all: readonly Call[]) => Stage | undefined,
  how: "closed" | "reset",
) {
  /** Those that came whole. */
  const calls: Call[] = [];
  let connections = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    connections++;
    open.add(socket);
    socket.on("error", () => {}).on("close", () => open.delete(socket));
    let heard = "";
    let nth = 0;
    const end = (): void => void (how === "closed" ? socket.destroy() : socket.resetAndDestroy());
    socket.on("data", (bytes) => {
      heard += bytes;
      const from = heard.indexOf("\r\n\r\n") + 4;
      const length = Number(/content-length: (\d+)/i.exec(heard)?.[1]);
      const key = /idempotency-key: (.+)\r/i.exec(heard)?.[1];
      const stage = breaks({ nth, key }, calls);
      if (stage === "while the call comes in") return end();
      if (from < 4 || heard.length < from + length) return;
      heard = "";
      calls.push({ nth: nth++, key });
      if (stage === undefined) return void socket.write(`${head}${answer}`);
      socket.write(stages[stage], end);
    });
  });
  await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
  const hangUp = (): void => {
    for (const socket of open) socket.destroy();
  };
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/v1`;
  return {
    url,
    calls,
    connections: () => connections,
    hangUp,
    close: () => {
      hangUp();
      server.close();
    },
  };
}

const ask = async (url: string, headers: Record<string, string> = {}): Promise<number | "broke off"> => {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ messages: [{ role: "user", content: "hello" }] }),
  });
  return await response.text().then(
    () => response.status,
    () => "broke off" as const,
  );
};

const isStream = (stage: Stage): boolean => stages[stage].startsWith(streamed);

for (const how of ["closed", "reset"] as const) {
  for (const stage of Object.keys(stages) as Stage[]) {
    for (const kept of [false, true]) {
      test(`a call is sent once over a ${kept ? "kept" : "fresh"} connection that is ${how} ${stage}`, async (t) => {
        const behind = await breaking(({ nth }) => (nth === (kept ? 1 : 0) ? stage : undefined), how);
        t.after(behind.close);
        const g = await world({ main: upstream({ url: behind.url }) });
        if (kept) assert.equal(await ask(g.url), 200);
        const before = behind.calls.length;
        assert.equal(await ask(g.url), isStream(stage) ? "broke off" : 502);
        assert.equal(behind.calls.length - before, stage === "while the call comes in" ? 0 : 1);
        assert.equal(behind.connections(), 1);
        const [last] = (await g.recorded(kept ? 2 : 1)).slice(-1);
        assert.ok(last?.status === "cut" || last?.status === "failed", last?.status);
        await g.close();
      });
    }
  }

  test(`a call with a key of its own is sent once more where no answer had begun: ${how}`, async (t) => {
    const sent = { "idempotency-key": "k-1" };
    for (const stage of Object.keys(stages) as Stage[]) {
      const behind = await breaking((_, calls) => (calls.length === 0 ? stage : undefined), how);
      t.after(behind.close);
      const g = await world({ main: upstream({ url: behind.url }) });
      const again = stage === "before the head" || stage === "within the head";
      if (stage === "while the call comes in") {
        // it breaks the second one as well, and there is no third
        assert.equal(await ask(g.url, sent), 502);
        assert.equal(behind.connections(), 2);
      } else {
        assert.equal(await ask(g.url, sent), again ? 200 : isStream(stage) ? "broke off" : 502, stage);
        assert.deepEqual(
          behind.calls.map(({ key }) => key),
          again ? ["k-1", "k-1"] : ["k-1"],
          stage,
        );
      }
      await g.close();
    }
  });
}

test("a kept connection that was closed meanwhile costs nothing: the call goes over another one", async (t) => {
  const behind = await breaking(() => undefined, "closed");
  t.after(behind.close);
  const g = await world({ main: upstream({ url: behind.url }) });
  for (let i = 0; i < 3; i++) {
    assert.equal(await ask(g.url), 200);
    behind.hangUp();
  }
  assert.deepEqual([behind.calls.length, behind.connections()], [3, 3]);
  await g.close();
});
