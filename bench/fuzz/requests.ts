/** Requests that are wrong in every way that we could think of, as bytes. Equal seeds make equal requests. */
import { gzipSync } from "node:zlib";
import type { Random } from "../../src/core/random.ts";
import { oddArtefact } from "./artefacts.ts";
import { asked, type Endpoint } from "./endpoints.ts";
import {
  bytes,
  damaged,
  deep,
  large,
  mutated,
  noise,
  oddJson,
  oddNumbers,
  oddTexts,
  pick,
  randomText,
} from "./odd.ts";

export interface Malformed {
  /** What is wrong with it. */
  readonly what: string;
  /** Sent one after the other. */
  readonly pieces: readonly Uint8Array[];
  /** The client goes away without waiting for an answer. */
  readonly leaves?: boolean;
}

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

/** What requests are made of. */
interface Known {
  readonly all: readonly Endpoint[];
  /** Those that take a body. */
  readonly takers: readonly Endpoint[];
  /** Those whose paths name something, or whose queries do. */
  readonly naming: readonly Endpoint[];
}
type Make = (random: Random, known: Known) => Malformed;

/** One that takes a body, mostly: elsewhere bodies are left alone. */
const taker = (random: Random, { all, takers }: Known): Endpoint =>
  pick(random.below(10) === 0 ? all : takers, random);
const latin = (text: string): Uint8Array => Uint8Array.from(text, (c) => c.charCodeAt(0) & 0xff);
const jsonOf = ({ body }: Endpoint): string => JSON.stringify(body ?? {});

/** @param more headers beside its own. */
function to(
  endpoint: Endpoint,
  body: Uint8Array,
  { method, path }: { readonly method: string; readonly path: string } = asked(endpoint),
  more: readonly string[] = [],
): Uint8Array[] {
  return framed(method, path, body, [...(endpoint.headers ?? []), ...more]);
}

/** As a path or a query takes it, or not. */
const encoded = (text: string, random: Random): string =>
  pick([encodeURIComponent(text.toWellFormed()), text.replaceAll(/[^!-~]/g, "%ff")], random);
const oddName = (random: Random): string =>
  encoded(pick([...oddTexts, ...oddNumbers, "%00", "..%2f..", "%", "%c0%ae", "*", ":id"], random), random);

/** A path in which something that it names, or that its query asks for, is another. */
function misnamed(path: string, random: Random): string {
  const [own = "", query] = path.split("?");
  if (query !== undefined && random.below(2) === 0) {
    const fields = query.split("&");
    const at = random.below(fields.length);
    const [name = ""] = (fields[at] ?? "").split("=");
    const odd = pick([`${name}=${oddName(random)}`, `${name}[]=1`, name, `${oddName(random)}=1`, ""], random);
    return `${own}?${[...fields.slice(0, at), odd, ...fields.slice(at + 1)].join("&")}`;
  }
  const parts = own.split("/");
  const at = 1 + random.below(parts.length - 1);
  const misnaming = [...parts.slice(0, at), oddName(random), ...parts.slice(at + 1)].join("/");
  return query === undefined ? misnaming : `${misnaming}?${query}`;
}

/** Ways to be wrong. */
const ways: readonly Make[] = [
  (random, known) => ({
    what: "any JSON",
    pieces: to(taker(random, known), bytes(oddJson(random))),
  }),
  (random, known) => {
    const endpoint = taker(random, known);
    return { what: "one wrong place", pieces: to(endpoint, bytes(mutated(jsonOf(endpoint), random))) };
  },
  (random, known) => {
    const endpoint = taker(random, known);
    return { what: "damaged bytes", pieces: to(endpoint, damaged(bytes(jsonOf(endpoint)), random)) };
  },
  (random, known) => ({
    what: "deep nesting",
    pieces: to(taker(random, known), bytes(deep(random))),
  }),
  (random, known) => {
    const endpoint = taker(random, known);
    const text = mutated(jsonOf(endpoint), random, large);
    return { what: "large values", pieces: to(endpoint, bytes(text)) };
  },
  (random, known) => {
    const endpoint = pick(known.naming, random);
    const { method, path } = asked(endpoint);
    const body = endpoint.body === undefined ? bytes("") : bytes(jsonOf(endpoint));
    return {
      what: "odd names and queries",
      pieces: to(endpoint, body, { method, path: misnamed(path, random) }),
    };
  },
  (random, known) => {
    const endpoint = taker(random, known);
    const packed = pick<() => Uint8Array>(
      [
        () => gzipSync(jsonOf(endpoint)),
        () => damaged(gzipSync(jsonOf(endpoint)), random),
        () => gzipSync(`"${" ".repeat(2 ** (10 + random.below(16)))}"`),
        () => bytes(jsonOf(endpoint)),
      ],
      random,
    )();
    const encoding = `content-encoding: ${pick(["gzip", "GZIP", "deflate", "br", "gzip, gzip", ""], random)}`;
    return { what: "odd compression", pieces: to(endpoint, packed, asked(endpoint), [encoding]) };
  },
  (random, known) => {
    const [first, second] = [pick(known.all, random), taker(random, known)];
    const kept = to(first, bytes(jsonOf(first))).map((piece) =>
      bytes(new TextDecoder().decode(piece).replace("connection: close\r\n", "")),
    );
    return { what: "two at once", pieces: [...kept, ...to(second, bytes(oddJson(random)))] };
  },
  (random, known) => {
    const endpoint = taker(random, known);
    const text = jsonOf(endpoint);
    return { what: "half a body", pieces: to(endpoint, bytes(text.slice(0, random.below(text.length)))) };
  },
  (random, known) => {
    const endpoint = taker(random, known);
    const [head = bytes(""), whole = bytes("")] = to(endpoint, bytes(jsonOf(endpoint)));
    const pieces = [head, whole.subarray(0, random.below(whole.length))];
    return { what: "gone in the middle of the body", pieces, leaves: true };
  },
  (random, known) => {
    const endpoint = pick(known.all, random);
    const [head = bytes("")] = to(endpoint, bytes(jsonOf(endpoint)));
    return {
      what: "gone in the middle of the head",
      pieces: [head.subarray(0, random.below(head.length))],
      leaves: true,
    };
  },
  (random, known) => {
    const endpoint = pick(known.all, random);
    const many = Array.from({ length: 1 + random.below(2) * random.below(3) }, () =>
      pick(oddHeaders, random),
    );
    const text = endpoint.body === undefined ? "" : jsonOf(endpoint);
    const [head = bytes(""), sent = bytes("")] = to(endpoint, bytes(text), asked(endpoint), many);
    return { what: "odd headers", pieces: [latin(new TextDecoder().decode(head)), sent] };
  },
  (random, known) => {
    const headers = Array.from(
      { length: 1 + random.below(400) },
      (_, i) => `x-${i}: ${"y".repeat(random.below(99))}`,
    );
    const endpoint = pick(known.all, random);
    const path = asked(endpoint);
    return { what: "many headers", pieces: to(endpoint, bytes(""), path, headers) };
  },
  (random, known) => {
    const endpoint = pick(known.all, random);
    const sent = random.below(2) ? bytes(jsonOf(endpoint)) : bytes("");
    const { path } = asked(endpoint);
    return { what: "another method", pieces: to(endpoint, sent, { method: pick(methods, random), path }) };
  },
  (random) => {
    const path = random.below(3)
      ? pick(oddPaths, random)
      : `/v1/${encodeURIComponent(randomText(random).toWellFormed())}`;
    const method = pick(["GET", "POST", "DELETE"], random);
    const [head = bytes(""), body = bytes("")] = framed(method, path, bytes(method === "GET" ? "" : "{}"));
    return { what: "odd paths", pieces: [latin(new TextDecoder().decode(head)), body] };
  },
  (random, known) => {
    const endpoint = taker(random, known);
    const text = jsonOf(endpoint);
    const size = bytes(text).length.toString(16);
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
    const [head = bytes("")] = to(endpoint, bytes(""), asked(endpoint), ["transfer-encoding: chunked"]);
    return { what: "odd chunks", pieces: [head, bytes(chunks)] };
  },
  (random) => ({ what: "noise", pieces: [noise(random, 1 + random.below(500)), bytes("\r\n\r\n")] }),
  (random, known) => {
    const version = pick(
      ["HTTP/0.9", "HTTP/1.0", "HTTP/2.0", "HTTP/9.9", "HTTPS/1.1", "", "http/1.1"],
      random,
    );
    const { path } = asked(pick(known.all, random));
    return { what: "odd versions", pieces: [bytes(`GET ${path} ${version}\r\n\r\n`)] };
  },
];

/** Artefacts, of servers that take them over this version. */
const artefacts =
  (version: string): Make =>
  (random) => ({
    what: "odd artefacts",
    pieces: framed("POST", "/v1/versions", bytes(oddArtefact(version, random))),
  });

/**
 * @param version of a server that takes artefacts over it.
 * @returns the n-th of a seed's requests; every way comes up equally often.
 */
export function malformed(
  all: readonly Endpoint[],
  version?: string,
): (random: Random, n: number) => Malformed {
  const named = all.filter(({ path }) => path !== undefined);
  const known: Known = {
    all,
    takers: all.filter(({ body }) => body !== undefined),
    naming: named.length > 0 ? named : all,
  };
  const mine = version === undefined ? ways : [...ways, artefacts(version)];
  return (random, n) => mine[n % mine.length]!(random.split("request", n), known);
}
