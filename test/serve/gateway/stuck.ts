/** A server in a process of its own, with a call that never ends: it answers others, closes, and says how many it has on disk. */
import { setTimeout as pause } from "node:timers/promises";
import { alwaysHi, wholeServer } from "../wholeServer.ts";

let stuck = true;
const whole = await wholeServer({
  ...alwaysHi(),
  async chat(call) {
    if (stuck) return await new Promise<never>(() => {});
    return await alwaysHi().chat(call);
  },
});
const ask = async (signal?: AbortSignal): Promise<void> => {
  const answer = await fetch(`${whole.server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ messages: [{ role: "user", content: "hello" }] }),
    ...(signal ? { signal } : {}),
  });
  await answer.text();
};
const gone = new AbortController();
const first = ask(gone.signal).catch(() => undefined);
while (whole.server.state().running === 0) await pause(1);
gone.abort();
await first;
await pause(50);
stuck = false;
await Promise.all(Array.from({ length: 20 }, () => ask()));
await whole.server.close();
let stored = 0;
for await (const { status } of whole.production.responses()) if (status === "complete") stored++;
process.stdout.write(`${stored} of 20\n`);
await whole.close();
