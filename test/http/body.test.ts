import assert from "node:assert/strict";
import { test } from "node:test";
import { beyondLimits, readJson } from "../../src/http/body.ts";

const limits = { bytes: 100, depth: 3, values: 8, names: 3 };
const post = (
  body: string | Uint8Array<ArrayBuffer> | ReadableStream,
  headers: Record<string, string> = {},
): Request =>
  new Request("http://localhost/", {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
    ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
  });
const outcome = async (request: Request) => {
  const read = await readJson(request, limits);
  return "json" in read ? read.json : read.code;
};

test("a body is read as JSON in UTF-8, within its limits", async () => {
  assert.deepEqual(await outcome(post('{"a":"ä"}', { "content-type": "application/json; charset=utf-8" })), {
    a: "ä",
  });
  assert.equal(await outcome(post("x".repeat(101))), "body_too_large");
  assert.equal(await outcome(post("12", { "content-length": "101" })), "body_too_large");
  assert.equal(await outcome(post(Uint8Array.of(0x22, 0xff, 0x22))), "invalid_utf8");
  assert.equal(await outcome(post("[[[[1]]]]")), "too_deep");
  assert.equal(await outcome(post("[[[1]]")), "invalid_json");
  assert.equal(await outcome(post("1", { "content-type": "text/plain" })), "not_json");
});

test("of a body without a stated length no more is read than it may have", async () => {
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(out) {
      pulled++;
      out.enqueue(new Uint8Array(40));
    },
  });
  assert.equal(await outcome(post(endless)), "body_too_large");
  assert.ok(pulled < 10, `${pulled} chunks`);
  const broken = new ReadableStream({ pull: (out) => out.error(new Error("gone")) });
  assert.equal(await outcome(post(broken)), "body_broke_off");
});

const beyond = (json: string, some: Partial<typeof limits>): string | undefined =>
  beyondLimits(new TextEncoder().encode(json), { depth: 100, values: 100, names: 100, ...some })?.code;

test("brackets within strings nest nothing", () => {
  assert.equal(beyond('{"a":"[[[[\\"[[["}', { depth: 1 }), undefined);
  assert.equal(beyond('[{"a":[]}]', { depth: 3 }), undefined);
  assert.equal(beyond('[{"a":[]}]', { depth: 2 }), "too_deep");
  assert.equal(beyond("[],[],[],[]", { depth: 1 }), undefined);
});

test("values are counted, and different names of fields, wherever they stand", () => {
  // three entries: the list, and one after each comma
  assert.equal(beyond("[1,2,3]", { values: 3 }), undefined);
  assert.equal(beyond("[1,2,3]", { values: 2 }), "too_many_values");
  assert.equal(beyond('["a,b,c,[","{,,"]', { values: 2 }), undefined);
  assert.equal(beyond('[{"a":1,"b":2},{"a":{"b" : "c:d"}}]', { names: 2 }), undefined);
  assert.equal(beyond('[{"a":1,"b":2},{"a":{"c":3}}]', { names: 2 }), "too_many_names");
});

test("what is no JSON costs its length, not its square", () => {
  const limits = { depth: 100, values: 100_000, names: 10_000 };
  for (const json of [`"${"x".repeat(2 ** 18)}"${":".repeat(2 ** 18)}`, '"a":'.repeat(2 ** 20)]) {
    const began = process.cpuUsage();
    assert.equal(beyondLimits(Buffer.from(json), limits), undefined);
    const { user, system } = process.cpuUsage(began);
    assert.ok((user + system) / 1000 < 1000, `${(user + system) / 1000} ms`);
  }
  // two strings for each entry are not too many
  assert.equal(beyond('{"a":"b","c":{"d":"e"}}', { names: 2 }), "too_many_names");
});

test("a string ends at its own quote, however long it is and however much of it is escaped", () => {
  for (const filler of ["a", '\\"', "\\\\", "é", '\\\\\\"']) {
    for (const length of [0, 1, 49, 50, 51, 99, 100, 101, 1000]) {
      const json = JSON.stringify([JSON.parse(`"${filler.repeat(length)}"`), 1, 2]);
      assert.equal(beyond(json, { values: 3 }), undefined, `${filler} × ${length}`);
      assert.equal(beyond(json, { values: 2 }), "too_many_values", `${filler} × ${length}`);
    }
  }
  assert.equal(beyond(`["${"a".repeat(300)}`, { values: 1 }), undefined);
});
