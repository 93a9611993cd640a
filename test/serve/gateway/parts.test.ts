import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isWhetstoneError } from "../../../src/core/errors.ts";
import { readAsked } from "../../../src/serve/gateway/asked.ts";
import { asking, withId, withoutExtra } from "../../../src/serve/gateway/asking.ts";
import { assembler } from "../../../src/serve/gateway/assemble.ts";
import { type ServerEvent, serverEvents } from "../../../src/serve/gateway/events.ts";
import { versionOf } from "../../../src/serve/gateway/open.ts";
import { guardedLookup, isRefusedAddress, upstreamBase } from "../../../src/serve/gateway/target.ts";

async function* pieces(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const cut of [...cuts.map((c) => c % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    yield bytes.subarray(from, cut);
    from = cut;
  }
}

test("law: events are the same wherever the bytes are cut, and no byte is lost", async () => {
  const text =
    'data: {"a":"é"}\n\n: alive\n\ndata: one\r\ndata: two\r\n\r\ndata:tight\r\revent: x\ndata: 5\n\ndata: end';
  const bytes = Buffer.from(text);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 20 }), async (cuts) => {
      const events: ServerEvent[] = [];
      for await (const together of serverEvents(pieces(bytes, cuts))) events.push(...together);
      assert.deepEqual(
        events.map(({ data }) => data),
        ['{"a":"é"}', undefined, "one\ntwo", "tight", "5", "end"],
      );
      assert.equal(events.map((e) => e.text).join(""), text);
    }),
    { seed: 1, numRuns: 200 },
  );
});

test("an event in many pieces costs its length, not its square", async () => {
  const piece = Buffer.alloc(256, "a");
  async function* many(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("data: ");
    for (let i = 0; i < 32_768; i++) yield piece;
    yield Buffer.from("\n\ndata: end\n\n");
  }
  const began = performance.now();
  const sizes: number[] = [];
  for await (const together of serverEvents(many()))
    sizes.push(...together.map(({ data = "" }) => data.length));
  const ms = performance.now() - began;
  assert.deepEqual(sizes, [8 << 20, 3]);
  // copied whole for every piece it would be 137 GB
  assert.ok(ms < 5000, `${ms} ms`);
});

/** As the standard says it, of a text that is whole. */
function dataOf(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  const events: string[][] = [[]];
  for (const line of lines) line === "" ? events.push([]) : events.at(-1)!.push(line);
  return events
    .map((event) => event.filter((line) => line.startsWith("data:")).map((line) => line.slice(5)))
    .filter((data) => data.length > 0)
    .map((data) => data.join("\n"));
}

test("law: lines end with LF, CRLF or CR, mixed and wherever the bytes are cut", async () => {
  const line = fc.constantFrom("", "", "data:a", "data:b", ": c", "event: d");
  const end = fc.constantFrom("\n", "\r\n", "\r");
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(line, end), { maxLength: 30 }),
      fc.array(fc.nat()),
      async (lines, cuts) => {
        const text = lines.flat().join("");
        const events: ServerEvent[] = [];
        for await (const together of serverEvents(pieces(Buffer.from(text), cuts))) events.push(...together);
        assert.equal(events.map((e) => e.text).join(""), text);
        assert.deepEqual(
          events.flatMap(({ data }) => data ?? []),
          dataOf(text),
        );
      },
    ),
    { seed: 1, numRuns: 500 },
  );
});

test("events cost their length however their lines end, and others get their turn in between", async () => {
  for (const [event, times] of [
    [":\r\n\r\n", 52_000],
    [":\n\n", 2_000_000],
    ["data: {}\n\n", 400_000],
    ["\n", 4_000_000],
    ["\r", 4_000_000],
  ] as const) {
    const bytes = Buffer.from(event.repeat(times));
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
    }
    const began = process.threadCpuUsage();
    const usedMs = (since: NodeJS.CpuUsage): number => {
      const { user, system } = process.threadCpuUsage(since);
      return (user + system) / 1000;
    };
    let turn = began;
    let longest = 0;
    const turns = setInterval(() => {
      longest = Math.max(longest, usedMs(turn));
      turn = process.threadCpuUsage();
    }, 1);
    let length = 0;
    for await (const together of serverEvents(chunks())) {
      for (const { text } of together) length += text.length;
    }
    longest = Math.max(longest, usedMs(turn));
    clearInterval(turns);
    assert.equal(length, bytes.length);
    assert.ok(longest < 150, `${JSON.stringify(event)}: ${longest} ms in one go`);
    assert.ok(usedMs(began) < 5000, `${JSON.stringify(event)}: ${usedMs(began)} ms`);
  }
});

test("an event of too many lines or values is not read", async () => {
  async function* body(text: string): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text);
  }
  for (const text of [
    "data:\n".repeat(10_001),
    `data: [${"[],".repeat(1_000_000)}0]\n`,
    `data: ${"[".repeat(70_000)}\n`,
  ]) {
    for await (const [event] of serverEvents(body(`${text}\n`))) {
      assert.equal(event?.text, `${text}\n`);
      assert.equal(event?.data, undefined);
      assert.match(event?.unread ?? "", /more than|deeper than/);
    }
  }
});

test("an answer of more choices, calls or arguments than means well is not put together", () => {
  const choices = Array.from({ length: 5000 }, (_, index) => ({ index, message: { content: "a" } }));
  assert.throws(() => assembler("raw", true).take({ choices }), /more than 4096 choices and calls/);
  const call = { function: { name: "f", arguments: "x".repeat(300_000) } };
  const growing = assembler("raw", true);
  const piece = { choices: [{ delta: { tool_calls: [call] } }] };
  for (let i = 0; i < 3; i++) growing.take(piece);
  assert.throws(() => growing.take(piece), /characters of arguments/);
  const many = Array.from({ length: 5000 }, () => ({ function: { name: "f" } }));
  assert.throws(() => assembler("raw", true).take({ choices: [{ message: { tool_calls: many } }] }), /4096/);
});

const exactChunk = (ids: readonly number[], logps: readonly number[], more: object = {}) => ({
  id: "u",
  choices: [
    {
      index: 0,
      delta: { content: "x" },
      token_ids: [...ids],
      logprobs: { content: logps.map((logprob) => ({ token: "x", logprob })) },
      finish_reason: null,
      ...more,
    },
  ],
});

test("tokens are kept exactly, and where a temperature hides one distribution that one is unknown", () => {
  const nan = Number.NaN;
  for (const [mode, plain, logp, behaviour] of [
    ["raw", true, [-1, -2], [-1, -2]],
    ["raw", false, [-1, -2], [nan, nan]],
    ["processed", true, [-1, -2], [-1, -2]],
    ["processed", false, [nan, nan], [-1, -2]],
  ] as const) {
    const growing = assembler(mode, plain);
    growing.take({ ...exactChunk([7], [-1]), prompt_token_ids: [1, 2] });
    assert.equal(growing.ended(), false);
    growing.take(exactChunk([8], [-2], { finish_reason: "length" }));
    assert.equal(growing.ended(), true);
    const [choice] = growing.result().choices;
    assert.equal(choice!.stop, "length");
    assert.deepEqual(choice!.tokens, {
      prompt: Int32Array.of(1, 2),
      action: Int32Array.of(7, 8),
      logp: Float32Array.from(logp),
      behaviour: Float32Array.from(behaviour),
    });
  }
});

test("tokens that cannot all be known are none", () => {
  const without = assembler("raw", true);
  without.take(exactChunk([7, 8], [-1, -2]));
  assert.equal(without.result().choices[0]!.tokens, undefined); // no ids of the prompt
  const short = assembler("raw", true);
  short.take({ ...exactChunk([7, 8], [-1]), prompt_token_ids: [1] });
  assert.equal(short.result().choices[0]!.tokens, undefined); // a log-probability is missing
});

test("reasons to stop are told apart", () => {
  const stopOf = (more: object) => {
    const growing = assembler("raw", true);
    growing.take({ choices: [{ index: 0, message: { content: "x" }, ...more }] });
    return growing.result().choices[0]!.stop;
  };
  assert.equal(stopOf({ finish_reason: "stop" }), "eos");
  assert.equal(stopOf({ finish_reason: "stop", stop_reason: "END" }), "stop");
  assert.equal(stopOf({ finish_reason: "tool_calls" }), "eos");
  assert.equal(stopOf({ finish_reason: "content_filter" }), "cut");
  assert.equal(stopOf({}), "cut");
});

test("requests are read leniently: parts, images, tools, tags, and what is odd", () => {
  const asked = readAsked({
    model: "m",
    user: "ann",
    metadata: { plan: "pro", "whetstone.cut": "forged" },
    temperature: 0,
    messages: [
      {
        role: "developer",
        content: [
          { type: "text", text: "Be " },
          { type: "text", text: "kind." },
        ],
      },
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:1" } }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", function: { name: "t", arguments: "{" } }],
      },
      { role: "tool", tool_call_id: "1", content: "r" },
      "nonsense",
    ],
    tools: [{ type: "function", function: { name: "t" } }, { type: "odd" }],
  })!;
  const [system, image, call, result, odd] = asked.prompt;
  const parameters = { type: "object", properties: {} };
  assert.deepEqual(system, {
    role: "system",
    content: "Be kind.",
    tools: [{ name: "t", description: "", parameters }],
  });
  assert.match(image!.content, /^\[image_url [0-9a-f]{16}\]$/);
  assert.deepEqual(call!.toolCalls, [{ id: "1", name: "t", arguments: "{" }]);
  assert.deepEqual(result, { role: "tool", content: "r", toolCallId: "1" });
  assert.deepEqual(odd, { role: "user", content: "" });
  assert.deepEqual([asked.user, asked.tags, asked.settings], ["ann", { plan: "pro" }, { temperature: 0 }]);
  for (const none of [undefined, null, [], "x", {}, { messages: "x" }])
    assert.equal(readAsked(none), undefined);
});

test("an upstream is asked for more only where its version says that it gives it, and clients see what they asked for", () => {
  const body = { model: "m", messages: [], stream: true, logprobs: true };
  const asked = readAsked(body)!;
  assert.equal(asking(asked, {}).body, undefined);
  assert.deepEqual(JSON.parse(asking(asked, { model: "other" }).body!), { ...body, model: "other" });
  const { body: sent, extra } = asking(asked, { exact: "raw" });
  assert.deepEqual(JSON.parse(sent!), {
    ...body,
    return_token_ids: true,
    stream_options: { include_usage: true },
  });
  const chunk = { ...exactChunk([7], [-1]), prompt_token_ids: [1], usage: null };
  const [choice] = exactChunk([], [-1]).choices;
  const { token_ids: _, ...shown } = choice!;
  assert.deepEqual(withoutExtra(chunk, extra), { id: "u", choices: [shown] });
  assert.equal(withoutExtra({ choices: [], usage: { prompt_tokens: 1 } }, extra), undefined);
});

test("ids are replaced where they stand, and nowhere else", () => {
  assert.equal(
    withId('{"x":{"id":"b"},"id" : "a.+","n":"a.+"}', "a.+", "c"),
    '{"x":{"id":"b"},"id" : "c","n":"a.+"}',
  );
});

test("upstreams are http(s) addresses that were stated, and none where clouds keep credentials", async () => {
  assert.equal(upstreamBase("http://127.0.0.1:8000/v1/"), "http://127.0.0.1:8000/v1");
  assert.equal(upstreamBase("https://api.example.com"), "https://api.example.com");
  for (const bad of [
    "ftp://a/v1",
    "file:///etc/passwd",
    "nonsense",
    "https://user:secret@a/v1",
    "https://a/v1?key=1",
    "http://169.254.169.254/latest",
    "http://2852039166/", // the same as one number
    "http://[fd00:ec2::254]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[fe80::1]/",
    "http://0251.0376.0251.0376/",
    "http://0xa9fea9fe/",
    "http://169.254.43518/",
    "http://169.254.169.254./",
    "http://\u2460\u2465\u2468.254.169.254/",
    "http://[::169.254.169.254]/",
    "http://[::ffff:0:a9fe:a9fe]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::6464:64c8]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[64:ff9b:1:a9fe:a9:fe00::]/",
    "http://[2002:6464:64c8::1]/",
    "http://[2002:a83f:8110:1::1]/",
    "http://[2001::5601:5601]/",
    "http://[fd20:ce::254]/",
    "http://168.63.129.16/",
  ]) {
    assert.throws(
      () => upstreamBase(bad),
      (e) => isWhetstoneError(e) && e.code === "config.invalid" && !e.message.includes("secret"),
      bad,
    );
  }
  for (const fine of [
    "10.0.0.1",
    "192.168.1.1",
    "127.0.0.1",
    "::1",
    "fd00::1",
    "::ffff:10.0.0.1",
    "2606:4700::1111",
    "2001:4860:4860::8888",
    "2002:a00:1::1",
  ])
    assert.equal(isRefusedAddress(fine), false);
  const found = await new Promise((resolve) =>
    guardedLookup("localhost", { all: true }, (error, addresses) => resolve([error, addresses])),
  );
  assert.match(JSON.stringify(found), /127\.0\.0\.1|::1/);
  const refused = await new Promise((resolve) =>
    guardedLookup("169.254.169.254", { all: true }, (error) => resolve(error?.message)),
  );
  assert.match(String(refused), /metadata address 169\.254\.169\.254/);
});

test("equal backends are one version, whatever order they are stated in", () => {
  const one = versionOf({ kind: "upstream", url: "http://a/v1/", model: "m" }, 1);
  assert.equal(one.id, versionOf({ kind: "upstream", model: "m", url: "http://a/v1" }, 2).id);
  assert.notEqual(one.id, versionOf({ kind: "upstream", model: "m2", url: "http://a/v1" }, 1).id);
  const run = { kind: "run", folder: "/runs/x/final" } as const;
  assert.notEqual(versionOf(run, 1, "1").id, versionOf(run, 1, "2").id);
  assert.match(versionOf(run, 1).id, /^x-final-[0-9a-f]{8}$/);
});
