/** OTLP as protobuf, in bytes that the exporters and instrumentations of others wrote. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { spansOf } from "../../src/exchange/otlp/attributes.ts";
import { readSpans } from "../../src/exchange/otlp/otlp.ts";
import { answerBytes, refusalBytes, requestFrom } from "../../src/exchange/otlp/protobuf.ts";
import { assistant, user } from "./served.ts";

const limits = { depth: 64, values: 500_000 };
const bytesOf = (name: string): Uint8Array => readFileSync(join(import.meta.dirname, "spans", `${name}.bin`));

/**
 * One agent with one tool, under each instrumentation; @opentelemetry/exporter-trace-otlp-proto 0.301 wrote the bytes. Its
 * session is "chat-7" and its user "ann", by the means of each.
 */
const recorded = {
  // @arizeai/openinference-instrumentation-openai 4.2.7 with setSession and setUser; a retriever and a tool beside it
  openinference: { others: 1, tool: { name: "look", input: '{"at":"door"}', output: "a red door" } },
  // @traceloop/instrumentation-openai 0.27.0, and association properties on the workflow's span
  openllmetry: { others: 1, tool: { name: "look", input: '{"at":"door"}', output: "a red door" } },
  // @ai-sdk/otel 1.0.173 with its runtime context: the calls' own spans do not state it
  "ai-sdk-context": { others: 3, tool: { name: "look", input: '{"at":"door"}', output: '"a red door"' } },
  // the same with its older names
  "ai-sdk-context-legacy": {
    others: 1,
    tool: { name: "look", input: '{"at":"door"}', output: '"a red door"' },
  },
  // the same in Python: opentelemetry-sdk 1.45.2, openinference-instrumentation-openai 0.1.66, no span for the tool
  "python-openinference": { others: 0 },
  // opentelemetry-instrumentation-openai 0.62.4
  "python-openllmetry": { others: 1 },
};

for (const [name, { others, tool }] of Object.entries<{ others: number; tool?: object }>(recorded)) {
  test(`${name}: session, user, tool calls and texts arrive`, () => {
    const request = requestFrom(bytesOf(name), limits);
    assert.ok(request && request !== "beyond");
    const read = readSpans(request, 7);
    assert.ok(read);
    assert.equal(read.others, others);
    assert.equal(read.malformed, 0);
    assert.deepEqual(
      read.responses.map((r) => [r.id, r.session, r.user, r.model, r.usage, r.tags["service.name"]]),
      [
        ["resp-1", "chat-7", "ann", "mock-model", { input: 5, output: 3 }, "door"],
        ["resp-2", "chat-7", "ann", "mock-model", { input: 5, output: 3 }, "door"],
      ],
    );
    const [first, second] = read.responses;
    const call = { id: "call-1", name: "look", arguments: '{"at":"door"}' };
    assert.deepEqual(
      first!.prompt.map(({ tools: _, ...message }) => message),
      [{ role: "system", content: "Be brief." }, user("What colour is the door?")],
    );
    const [offered] = first!.prompt[0]!.tools!;
    assert.equal(offered!.name, "look");
    assert.match(JSON.stringify(offered!.parameters), /"properties":\{"at":\{"type":"string"\}\}/);
    assert.deepEqual(first!.choices[0]!.message, { ...assistant(""), toolCalls: [call] });
    assert.deepEqual(second!.prompt.slice(2), [
      { ...assistant(""), toolCalls: [call] },
      { role: "tool", content: "a red door", toolCallId: "call-1" },
    ]);
    assert.deepEqual(second!.choices[0]!.message, assistant("It is red."));
    const tools = read.traced.filter(({ kind }) => kind === "tool");
    assert.deepEqual(
      tools.map(({ name, input, output }) => ({ name, input, output })),
      tool === undefined ? [] : [tool],
    );
    for (const { session, user } of read.traced) assert.deepEqual([session, user], ["chat-7", "ann"]);
    assert.ok(second!.at > Date.UTC(2026, 0) && second!.ms >= 0);
  });
}

test("every kind of value, times beyond a double and ids in hexadecimal digits", () => {
  const w = new BinaryWriter();
  const nested = (field: number, fields: () => void): void => {
    w.tag(field, WireType.LengthDelimited).fork();
    fields();
    w.join();
  };
  const text = (field: number, value: string): unknown =>
    w.tag(field, WireType.LengthDelimited).string(value);
  const attribute = (key: string, value: () => void): void =>
    nested(9, () => {
      text(1, key);
      nested(2, value);
    });
  nested(1, () =>
    nested(2, () =>
      nested(2, () => {
        w.tag(1, WireType.LengthDelimited).bytes(new Uint8Array(16).fill(0xab));
        w.tag(2, WireType.LengthDelimited).bytes(new Uint8Array(8).fill(1));
        w.tag(7, WireType.Bit64).fixed64("1795786258143000001");
        w.tag(8, WireType.Bit64).fixed64("1795786258153000001");
        attribute("text", () => text(1, "é"));
        attribute("yes", () => w.tag(2, WireType.Varint).bool(true));
        attribute("minus", () => w.tag(3, WireType.Varint).int64(-3));
        attribute("half", () => w.tag(4, WireType.Bit64).double(0.5));
        attribute("list", () => nested(5, () => nested(1, () => text(1, "a"))));
        attribute("map", () =>
          nested(6, () =>
            nested(1, () => {
              text(1, "k");
              nested(2, () => text(1, "v"));
            }),
          ),
        );
        w.tag(99, WireType.Varint).int64(1); // a field of a later version
        nested(15, () => {
          text(2, "it broke");
          w.tag(3, WireType.Varint).int32(2);
        });
      }),
    ),
  );
  const request = requestFrom(w.finish(), limits);
  assert.ok(request && request !== "beyond");
  const [span] = spansOf(request)!.spans;
  assert.equal(span!.traceId, "ab".repeat(16));
  assert.equal(span!.at, 1_795_786_258_143);
  assert.equal(span!.end, 1_795_786_258_153);
  assert.equal(span!.failure, "it broke");
  assert.deepEqual(span!.attributes, {
    text: "é",
    yes: true,
    minus: -3,
    half: 0.5,
    list: ["a"],
    map: { k: "v" },
  });
});

test("bytes that break off anywhere, and other bytes, are no request; nothing is thrown", () => {
  const whole = bytesOf("openllmetry");
  let broken = 0;
  for (let length = 1; length < whole.length; length += 7)
    if (requestFrom(whole.subarray(0, length), limits) === undefined) broken++;
  assert.equal(broken, Math.ceil((whole.length - 1) / 7));
  assert.equal(requestFrom(Buffer.from("{}"), limits), undefined);
  // a resource of 2^32 bytes in a body of six
  assert.equal(requestFrom(Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f), limits), undefined);
});

test("more values or levels than allowed are refused before they are built", () => {
  const whole = bytesOf("openllmetry");
  assert.equal(requestFrom(whole, { ...limits, values: 50 }), "beyond");
  assert.equal(requestFrom(whole, { ...limits, depth: 3 }), "beyond");
  // lists within lists, each a few bytes
  let value = new BinaryWriter().tag(1, WireType.LengthDelimited).string("x").finish();
  for (let level = 0; level < 1000; level++) {
    const list = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(value).finish();
    value = new BinaryWriter().tag(5, WireType.LengthDelimited).bytes(list).finish();
  }
  const keyed = new BinaryWriter().tag(2, WireType.LengthDelimited).bytes(value).finish();
  const resource = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(keyed).finish();
  const inResource = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(resource).finish();
  assert.equal(
    requestFrom(new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(inResource).finish(), limits),
    "beyond",
  );
});

test("answers: nothing where all was taken, else how many spans were left out and why", () => {
  assert.equal(answerBytes(0, "").length, 0);
  const outer = new BinaryReader(answerBytes(3, "Left out."));
  assert.deepEqual(outer.tag(), [1, WireType.LengthDelimited]);
  const inner = new BinaryReader(outer.bytes());
  assert.deepEqual([inner.tag(), Number(inner.int64())], [[1, WireType.Varint], 3]);
  assert.deepEqual([inner.tag(), inner.string()], [[2, WireType.LengthDelimited], "Left out."]);
  const refused = new BinaryReader(refusalBytes("why"));
  assert.deepEqual([refused.tag(), refused.string()], [[2, WireType.LengthDelimited], "why"]);
});
