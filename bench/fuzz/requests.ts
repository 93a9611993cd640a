/** Requests that are wrong in every way that we could think of, as bytes. Equal seeds make equal requests. */
import type { Random } from "../../src/core/random.ts";

export interface Malformed {
  /** What is wrong with it. */
  readonly what: string;
  /** Sent one after the other. */
  readonly pieces: readonly Uint8Array[];
  /** The client goes away without waiting for an answer. */
  readonly leaves?: boolean;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const pick = <T>(items: readonly T[], random: Random): T => items[random.below(items.length)]!;

const chat = {
  model: "m",
  messages: [
    { role: "system", content: "be brief" },
    { role: "user", content: "hello" },
  ],
  temperature: 1,
  stream: false,
  n: 1,
  tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
  metadata: { a: "b" },
};
const feedback = {
  kind: "rating",
  response: "r1",
  value: 3,
  scale: [1, 5],
  user: "u",
  at: 1_700_000_000_000,
  tags: { a: "b" },
};
const preference = { kind: "preference", among: [{ response: "a" }, { session: "s" }], best: 0 };

/** Every path with what it takes. */
const endpoints: readonly { readonly path: string; readonly body: unknown }[] = [
  { path: "/v1/chat/completions", body: chat },
  { path: "/session/s1/v1/chat/completions", body: { ...chat, stream: true } },
  { path: "/user/u1/session/s1/v1/chat/completions", body: chat },
  { path: "/v1/models", body: undefined },
  { path: "/v1/feedback", body: feedback },
  { path: "/v1/feedback", body: [feedback, preference] },
  { path: "/v1/feedback/tokens", body: { session: "s1", expiresIn: 60 } },
  { path: "/v1/feedback.js", body: undefined },
  { path: "/v1/feedback?response=r1&limit=5", body: undefined },
  { path: "/v1/responses/r1", body: undefined },
  { path: "/v1/sessions?limit=3&offset=2", body: undefined },
  { path: "/v1/sessions/s1", body: undefined },
  { path: "/v1/keys", body: { label: "k", scopes: ["read"], expiresIn: 60 } },
  { path: "/v1/keys/0123", body: undefined },
  { path: "/v1/versions", body: { url: "http://127.0.0.1:9/v1", model: "m", note: "n", exact: "raw" } },
  { path: "/v1/versions", body: undefined },
  { path: "/v1/versions/judgement", body: undefined },
  // of versions that there are none of: who answers stays as it is
  { path: "/v1/splits", body: { shares: { a: 0.5, b: 0.5 }, unit: "session", why: "because" } },
  { path: "/v1/splits", body: undefined },
  { path: "/healthz", body: undefined },
  { path: "/v1/traces", body: { resourceSpans: [{ scopeSpans: [{ spans: [{ name: "chat" }] }] }] } },
];

const methods = [
  "GET",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "HEAD",
  "OPTIONS",
  "TRACE",
  "QUERY",
  "BREW",
  "get",
  "",
];
const oddNumbers = [
  "1e999",
  "-1e999",
  "1e-400",
  "-0",
  "9007199254740993",
  "123456789012345678901234567890",
  "0.1e+400",
];
const oddTexts = [
  "",
  "\u0000",
  "\ud800",
  "__proto__",
  "constructor",
  "toString",
  "a".repeat(5000),
  "../../etc/passwd",
  "'; drop table signals; --",
  "{{7*7}}",
  "\u202e\u200b",
  "1e5",
  "🙂".repeat(300),
];

/** A method, a path and its head, framed as it should be. */
function framed(
  method: string,
  path: string,
  body: Uint8Array,
  headers: readonly string[] = [],
): Uint8Array[] {
  const head = [
    `${method} ${path} HTTP/1.1`,
    "host: localhost",
    "connection: close",
    ...headers,
    ...(body.length > 0 ? [`content-length: ${body.length}`] : []),
  ];
  const typed = headers.some((h) => /^content-type:/i.test(h)) ? [] : ["content-type: application/json"];
  return [bytes(`${[...head, ...typed].join("\r\n")}\r\n\r\n`), body];
}

/** Any JSON value, as text: numbers that no double holds, texts that no database takes, keys that objects have already. */
export function oddJson(random: Random, depth = 4): string {
  switch (random.below(depth > 0 ? 7 : 5)) {
    case 0:
      return pick(oddNumbers, random);
    case 1:
      return JSON.stringify(pick(oddTexts, random));
    case 2:
      return pick(["null", "true", "false", "[]", "{}"], random);
    case 3:
      return String(random.below(2 ** 31) - 2 ** 30);
    case 4:
      return JSON.stringify(randomText(random));
    case 5:
      return `[${Array.from({ length: random.below(5) }, () => oddJson(random, depth - 1)).join(",")}]`;
    default: {
      const keys = [...oddTexts, "kind", "messages", "value", "response", "about", "role", "content"];
      const entries = Array.from(
        { length: random.below(5) },
        () => `${JSON.stringify(pick(keys, random))}:${oddJson(random, depth - 1)}`,
      );
      return `{${entries.join(",")}}`;
    }
  }
}

const randomText = (random: Random): string =>
  Array.from({ length: random.below(20) }, () => String.fromCharCode(random.below(0xffff))).join("");
const noise = (random: Random, length: number): Uint8Array =>
  Uint8Array.from({ length }, () => random.below(256));

/** A body that is right but for one place. */
function mutated(body: unknown, random: Random): string {
  const text = JSON.stringify(body ?? {});
  // a value of it, or the name of a field
  const places = [...text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d+|true|false|null/g)];
  if (places.length === 0) return oddJson(random);
  const place = pick(places, random);
  const before = text.slice(0, place.index);
  const after = text.slice(place.index + place[0].length);
  const isName = after.startsWith(":");
  return before + (isName ? JSON.stringify(pick(oddTexts, random)) : oddJson(random, 2)) + after;
}

function damaged(body: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(body.length > 0 ? body : bytes("{}"));
  for (let n = 1 + random.below(4); n > 0; n--) copy[random.below(copy.length)] = random.below(256);
  return copy;
}

const oddPaths = [
  "/../../../../etc/passwd",
  "/v1/..%2f..%2fetc%2fpasswd",
  "/v1/responses/%00",
  "/v1/sessions/%ff%fe",
  "/v1/sessions/%",
  "/v1/sessions/__proto__",
  "//v1//feedback",
  "/v1/feedback/",
  "/V1/FEEDBACK",
  "/v1/feedback#x",
  "/v1/feedback?limit=1e9&from=-1&until=NaN",
  "/v1/sessions?limit=99999999999999999999&offset=1.5",
  "/v1/feedback?response[]=1&response=2&__proto__=3",
  "/session/%2e%2e/v1/chat/completions",
  `/session/${"s".repeat(4000)}/v1/chat/completions`,
  "/session/\u00e4/v1/models",
  "http://evil.example/v1/feedback",
  "*",
  "/",
  "",
  "/v1/responses/' or 1=1 --",
];

const oddHeaders: readonly string[] = [
  "no colon here",
  ": no name",
  "x\u0000y: 1",
  "x: a\u0000b",
  " folded: 1",
  "host: a\r\nhost: b",
  "content-length: -1",
  "content-length: 1\r\ncontent-length: 2",
  "content-length: 99999999999999999999",
  "content-length: 0x10",
  "transfer-encoding: chunked\r\ncontent-length: 4",
  "transfer-encoding: xchunked",
  "transfer-encoding: chunked, chunked",
  "expect: 100-continue",
  "expect: the unexpected",
  "upgrade: websocket\r\nconnection: upgrade",
  "upgrade: h2c\r\nhttp2-settings: AAA",
  "content-encoding: gzip",
  "content-type: multipart/form-data; boundary=",
  "content-type: application/json; charset=utf-7",
  "range: bytes=0-,0-,0-",
  "if-none-match: *",
  "origin: null",
  "origin: http://evil.example",
  "origin: \u0001",
  "sec-fetch-site: cross-site",
  "idempotency-key: a b",
  "idempotency-key:",
  "authorization: Bearer",
  "authorization: Basic Og==",
  "authorization: Bearer wst_0_x",
  `authorization: Bearer wsb_${"A".repeat(100)}.${"A".repeat(43)}`,
  "x-whetstone-session: \u00ff\u00fe",
  `x-whetstone-session: ${"s".repeat(300)}`,
  "x-whetstone-session: ../..",
  "x-whetstone-user: __proto__",
  "x-whetstone-channels: ,,,",
  "x-whetstone-durable: maybe",
  "x-forwarded-host: evil.example",
];

type Make = (random: Random) => Malformed;

const anyEndpoint = (random: Random) => pick(endpoints, random);
const takers = endpoints.filter(({ body }) => body !== undefined);
/** One that takes a body, mostly: elsewhere bodies are left alone. */
const taker = (random: Random) => pick(random.below(10) === 0 ? endpoints : takers, random);
const latin = (text: string): Uint8Array => Uint8Array.from(text, (c) => c.charCodeAt(0) & 0xff);

/** Ways to be wrong. */
const ways: readonly Make[] = [
  (random) => ({
    what: "any JSON",
    pieces: framed("POST", taker(random).path, bytes(oddJson(random))),
  }),
  (random) => {
    const { path, body } = taker(random);
    return { what: "one wrong place", pieces: framed("POST", path, bytes(mutated(body, random))) };
  },
  (random) => {
    const { path, body } = taker(random);
    const text = JSON.stringify(body ?? {});
    const broken = damaged(bytes(text), random);
    return { what: "damaged bytes", pieces: framed("POST", path, broken) };
  },
  (random) => {
    const depth = 10 ** (1 + random.below(5));
    const [open, close] = pick([["[", "]"] as const, ['{"a":', "}"] as const], random);
    const text =
      open.repeat(depth) + (random.below(2) ? "1" : "") + (random.below(2) ? close.repeat(depth) : "");
    return { what: "deep nesting", pieces: framed("POST", taker(random).path, bytes(text)) };
  },
  (random) => {
    const { path, body } = taker(random);
    const text = JSON.stringify(body ?? {});
    return {
      what: "half a body",
      pieces: framed("POST", path, bytes(text.slice(0, random.below(text.length)))),
    };
  },
  (random) => {
    const { path, body } = taker(random);
    const [head = bytes(""), whole = bytes("")] = framed("POST", path, bytes(JSON.stringify(body ?? [1])));
    const pieces = [head, whole.subarray(0, random.below(whole.length))];
    return { what: "gone in the middle of the body", pieces, leaves: true };
  },
  (random) => {
    const { path, body } = anyEndpoint(random);
    const [head = bytes("")] = framed("POST", path, bytes(JSON.stringify(body ?? {})));
    return {
      what: "gone in the middle of the head",
      pieces: [head.subarray(0, random.below(head.length))],
      leaves: true,
    };
  },
  (random) => {
    const { path, body } = anyEndpoint(random);
    const many = Array.from({ length: 1 + random.below(2) * random.below(3) }, () =>
      pick(oddHeaders, random),
    );
    const [head = bytes(""), sent = bytes("")] = framed(
      "POST",
      path,
      bytes(JSON.stringify(body ?? {})),
      many,
    );
    return { what: "odd headers", pieces: [latin(new TextDecoder().decode(head)), sent] };
  },
  (random) => {
    const headers = Array.from(
      { length: 1 + random.below(400) },
      (_, i) => `x-${i}: ${"y".repeat(random.below(99))}`,
    );
    return { what: "many headers", pieces: framed("GET", anyEndpoint(random).path, bytes(""), headers) };
  },
  (random) => {
    const { path, body } = anyEndpoint(random);
    const sent = random.below(2) ? bytes(JSON.stringify(body ?? {})) : bytes("");
    return { what: "another method", pieces: framed(pick(methods, random), path, sent) };
  },
  (random) => {
    const path = random.below(3)
      ? pick(oddPaths, random)
      : `/v1/${encodeURIComponent(randomText(random).toWellFormed())}`;
    const method = pick(["GET", "POST", "DELETE"], random);
    const [head = bytes(""), body = bytes("")] = framed(method, path, bytes(method === "GET" ? "" : "{}"));
    return { what: "odd paths", pieces: [latin(new TextDecoder().decode(head)), body] };
  },
  (random) => {
    const { path, body } = taker(random);
    const text = JSON.stringify(body ?? {});
    const size = text.length.toString(16);
    const chunks = pick(
      [
        `${size}\r\n${text}\r\n0\r\n\r\n`,
        `zz\r\n${text}\r\n0\r\n\r\n`,
        `-1\r\n${text}\r\n0\r\n\r\n`,
        `ffffffffffffffff\r\n${text}`,
        `${size};${"x".repeat(random.below(30_000))}\r\n${text}\r\n0\r\n\r\n`,
        `${size}\r\n${text}0\r\n\r\n`,
        `${size}\r\n${text}\r\n0\r\nx: ${"y".repeat(random.below(30_000))}\r\n\r\n`,
        `${[...text].map((c) => `1\r\n${c}\r\n`).join("")}0\r\n\r\n`,
        "\r\n".repeat(1000),
      ],
      random,
    );
    const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
    return { what: "odd chunks", pieces: [bytes(head), bytes(chunks)] };
  },
  (random) => ({ what: "noise", pieces: [noise(random, 1 + random.below(500)), bytes("\r\n\r\n")] }),
  (random) => {
    const version = pick(
      ["HTTP/0.9", "HTTP/1.0", "HTTP/2.0", "HTTP/9.9", "HTTPS/1.1", "", "http/1.1"],
      random,
    );
    return { what: "odd versions", pieces: [bytes(`GET ${anyEndpoint(random).path} ${version}\r\n\r\n`)] };
  },
];

/** The n-th of a seed's requests; every way comes up equally often. */
export function malformed(random: Random, n: number): Malformed {
  return ways[n % ways.length]!(random.split("request", n));
}
