/**
 * Requests that are well-formed, and cost as much as they can: what they hold is as large, as many, as deep or as hard to match
 * as limits allow. Sent one after the other, so that a pause of the server's event loop has its cause.
 */
import { request as ask } from "undici";
import type { Random } from "../../src/core/random.ts";
import { asked, type Endpoint } from "./endpoints.ts";
import { mutated, pick } from "./odd.ts";
import type { FuzzedServer } from "./servers.ts";

export interface Heavy {
  readonly what: string;
  readonly endpoint: Endpoint;
  readonly body: string;
}

/** Texts that patterns begin to match again and again, or that are marks of something. */
export const units = [
  "-----BEGIN PRIVATE KEY-----\n",
  "-----END PRIVATE KEY-----",
  "AB12 3456 ",
  "DE89 3704 0044 0532 0130 00 ",
  "::1 ",
  "1.1.1.1 ",
  "4111 1111 1111 1111 ",
  "+1 234-567-8901 ",
  "a@a.aa ",
  "a.b@",
  "token=",
  "Bearer ",
  "eyJaaaaaaaa.",
  "sk-",
  "1",
  "a",
  "é",
  "🙂",
  " ",
  "\n",
  "\\",
  '"',
  "[",
  "{",
  "<tool_call>",
  "<function=f>",
  "```",
  "{{",
  "{% ",
  "## strategy `s`\n",
  "> ",
  "a ",
  "\u0000",
  "\ud800",
] as const;

/** Characters of a value: about what the bodies of different servers may have. */
const sizes = [1e5, 4e5, 9e5, 2e6, 9.5e6, 15e6] as const;

/** Values that are heavy, by what they are; as JSON. */
const values: Readonly<Record<string, (random: Random, size: number) => string>> = {
  "text of patterns": (random, size) => {
    const unit = Array.from({ length: 1 + random.below(3) }, () => pick(units, random)).join("");
    return JSON.stringify(unit.repeat(Math.ceil(size / unit.length)).slice(0, size));
  },
  "many small values": (random, size) => {
    const one = pick(["1", '""', "{}", "[]", "null", '{"role":"user","content":""}', '{"id":"a"}'], random);
    return `[${Array.from({ length: Math.floor(size / (one.length + 1)) }, () => one).join(",")}]`;
  },
  "many names": (random, size) => {
    const each = pick(['""', "1", "{}"], random);
    return `{${Array.from({ length: Math.floor(size / 12) }, (_, i) => `"k${i}":${each}`).join(",")}}`;
  },
  "few names, many objects": (random, size) => {
    const names = 1 + random.below(5000);
    const one = `{${Array.from({ length: names }, (_, i) => `"k${i}":1`).join(",")}}`;
    return `[${Array.from({ length: Math.max(1, Math.floor(size / one.length)) }, () => one).join(",")}]`;
  },
  "JSON within a text": (random, size) => JSON.stringify(values[pick(inner, random)]!(random, size / 2)),
  "a long number": (_, size) => "7".repeat(Math.min(size, 1e6)),
  deep: (random, size) => {
    const depth = pick([15, 60, 99, 1000, Math.floor(size / 2)], random);
    return `${"[".repeat(depth)}${"]".repeat(depth)}`;
  },
  "messages of patterns": (random, size) => {
    const unit = pick(units, random).repeat(20);
    const one = JSON.stringify({ role: pick(["user", "assistant", "tool"], random), content: unit });
    return `[${Array.from({ length: Math.floor(size / one.length) }, () => one).join(",")}]`;
  },
  "calls of tools": (random, size) => {
    const given = pick(["{x", "{}", '{"a":1}', "[".repeat(50)], random);
    const one = JSON.stringify({ id: "a", type: "function", function: { name: "f", arguments: given } });
    const calls = Array.from({ length: Math.floor(size / one.length) }, () => one).join(",");
    return `[{"role":"assistant","content":"","tool_calls":[${calls}]}]`;
  },
  "attributes of a span": (random, size) => {
    const key = pick(["gen_ai.prompt.0.x", "gen_ai.prompt.0.tool_calls.0.x", "gen_ai.prompt."], random);
    const many = Array.from(
      { length: Math.floor(size / 80) },
      (_, i) => `{"key":"${key}${i}","value":{"stringValue":"x"}}`,
    );
    return `[${many.join(",")}]`;
  },
};
const inner = ["many small values", "many names", "messages of patterns", "deep"] as const;
export const kinds = Object.keys(values);

const hole = "\u0001";
/** What stands where a kind of value does most: a conversation, what is said in it, the arguments of a call, a span. */
const places: Readonly<Record<string, object>> = {
  "text of patterns": { messages: [{ role: "user", content: hole }], text: hole, tokens: hole },
  "many small values": { messages: hole, tools: hole, resourceSpans: hole, data: hole },
  "many names": { messages: [{ role: "user", content: "a" }], metadata: hole, tags: hole, parameters: hole },
  "few names, many objects": { tools: hole, data: hole },
  "JSON within a text": {
    messages: [
      {
        role: "assistant",
        tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: hole } }],
      },
    ],
  },
  "messages of patterns": { messages: hole },
  "calls of tools": { messages: hole },
  "attributes of a span": {
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [
              {
                name: "chat",
                traceId: "t",
                spanId: "s",
                startTimeUnixNano: "1",
                endTimeUnixNano: "2",
                attributes: hole,
              },
            ],
          },
        ],
      },
    ],
  },
};

/** The body with the value where it would stand, if it has such a place. */
function inItsPlace(body: unknown, what: string, value: string): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const fits = Object.entries(places[what] ?? {}).filter(([name]) => name in body);
  if (fits.length === 0) return undefined;
  const text = JSON.stringify({ ...body, ...Object.fromEntries(fits.slice(0, 1)) });
  return text.replace(JSON.stringify(hole), () => value);
}

/** @returns the n-th of a seed's requests; every kind comes up equally often. */
export function heavy(endpoints: readonly Endpoint[]): (random: Random, n: number) => Heavy {
  const takers = endpoints.filter(({ body }) => body !== undefined);
  return (from, n) => {
    const random = from.split("heavy", n);
    const what = kinds[n % kinds.length]!;
    const endpoint = pick(takers, random);
    const size = pick(sizes, random);
    const value = values[what]!(random, size);
    const aimed = random.below(2) === 0 ? inItsPlace(endpoint.body, what, value) : undefined;
    const body = aimed ?? mutated(JSON.stringify(endpoint.body), random, () => value);
    return { what, endpoint, body };
  };
}

export interface Weighed {
  readonly what: string;
  readonly status: string;
  readonly bytes: number;
  /** Milliseconds until the answer. */
  readonly ms: number;
  /** The longest pause of the server's event loop: what it computed, and by the clock. */
  readonly cpu: number;
  readonly wall: number;
}

/** Milliseconds after which an answer is missed. */
const patience = 60_000;

/** Sends one, and waits until all that follows from it is done. */
export async function weigh(server: FuzzedServer, { what, endpoint, body }: Heavy): Promise<Weighed> {
  const { method, path } = asked(endpoint);
  const headers = Object.fromEntries(
    (endpoint.headers ?? []).map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  await server.pause();
  const began = performance.now();
  let status: string;
  try {
    const answer = await ask(`http://127.0.0.1:${server.port}${path}`, {
      method: method === "GET" ? "GET" : "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
      reset: true,
      headersTimeout: patience,
      bodyTimeout: patience,
      signal: AbortSignal.timeout(patience),
    });
    await answer.body.dump({ limit: 2 ** 28 });
    status = String(answer.statusCode);
  } catch (e) {
    status = e instanceof Error && e.name === "TimeoutError" ? "hang" : "closed";
  }
  const ms = performance.now() - began;
  await server.settled();
  await new Promise((next) => setTimeout(next, 30));
  const { cpu, wall } = await server.pause();
  return { what: `${endpoint.route}: ${what}`, status, bytes: Buffer.byteLength(body), ms, cpu, wall };
}
