/** Requests sent at a steady rate, whatever becomes of those before: an open loop. */
import { setTimeout as pause } from "node:timers/promises";
import { Agent, request } from "undici";

export interface Target {
  readonly url: string;
  readonly agent: Agent;
}

export const target = (url: string): Target => ({ url, agent: new Agent({ connections: 128 }) });

const persona = "You help people with questions about animals, shortly and kindly. ".repeat(8);
const reply =
  "It is a small bird that can fly backwards, and its heart beats a thousand times a minute. ".repeat(3);
const turns = 8;

/** Bodies of a conversation, turn by turn. */
const bodies = (stream: boolean): readonly string[] =>
  Array.from({ length: turns }, (_, turn) =>
    JSON.stringify({
      model: "bench",
      temperature: 0.7,
      ...(stream ? { stream: true } : {}),
      messages: [
        { role: "system", content: persona },
        ...Array.from({ length: turn }, (_, k) => [
          { role: "user", content: `What about animal ${k}?` },
          { role: "assistant", content: reply },
        ]).flat(),
        { role: "user", content: `What about animal ${turn}?` },
      ],
    }),
  );
const said = { whole: bodies(false), stream: bodies(true) };

/** The `n`th request of a load: of conversations that take turns, `together` at a time, each at another point. */
export function call(n: number, stream: boolean, together: number) {
  const place = n % together;
  const step = Math.floor(n / together) + (place % turns);
  const session = `${Math.floor(step / turns)}-${place}`;
  return { body: said[stream ? "stream" : "whole"][step % turns]!, session };
}

/** @returns milliseconds until the last byte; nothing where the call failed. */
export async function timed(to: Target, body: string, session: string): Promise<number | undefined> {
  return sent(to, body, session).catch(() => undefined);
}

async function sent({ url, agent }: Target, body: string, session: string): Promise<number> {
  const begun = performance.now();
  const { statusCode, body: bytes } = await request(`${url}/v1/chat/completions`, {
    dispatcher: agent,
    method: "POST",
    headers: { "content-type": "application/json", "x-whetstone-session": session },
    body,
  });
  await bytes.dump({ limit: 1e9 });
  if (statusCode !== 200) throw new Error(`HTTP ${statusCode} from ${url}`);
  return performance.now() - begun;
}

/** Calls `send` `perSecond` times a second for `seconds`; what is late is sent at once. */
export async function steadily(perSecond: number, seconds: number, send: (n: number) => void): Promise<void> {
  const begun = performance.now();
  const all = Math.round(perSecond * seconds);
  for (let n = 0; n < all; ) {
    const due = Math.min(all, Math.floor(((performance.now() - begun) / 1000) * perSecond) + 1);
    for (; n < due; n++) send(n);
    await pause(1);
  }
}

/** @param q from 0 to 1. */
export function quantile(xs: readonly number[], q: number): number {
  const sorted = xs.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}
