import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { boundedPattern, extentOf } from "../../src/store/boundedPattern.ts";
import { ibanLength, luhn } from "../../src/store/personalData.ts";
import { type RedactionOptions, redactor } from "../../src/store/redaction.ts";
import type { Write } from "../../src/store/trafficStore.ts";
import { withCode } from "../train/world.ts";
import { served, signal } from "./served.ts";

const secret = Buffer.alloc(32, 1);
const redact = (text: string, options: RedactionOptions = {}): string => redactor(options, secret).text(text);

test("what is personal or secret is replaced by its kind", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["write to Ann.O'Neil+x@mail.example.co.uk, please", "write to [email], please"],
    ["jürgen@müller.example.", "[email]."],
    ["call +49 (0)30 1234-5678 or 030/1234567", "call [phone] or [phone]"],
    ["(555) 123-4567, 555.123.4567, 0049 30 12345678", "[phone], [phone], [phone]"],
    ["IBAN DE89 3704 0044 0532 0130 00 BITTE", "IBAN [iban] BITTE"],
    ["GB82WEST12345698765432", "[iban]"],
    ["card 4111 1111 1111 1111 exp 12/27", "card [card] exp 12/27"],
    ["5500-0000-0000-0004", "[card]"],
    ["from 192.168.17.4:8080 and 2001:db8::ff00:42:8329", "from [ip]:8080 and [ip]"],
    ["key sk-proj-abcDEF1234567890abcDEF", "key [secret]"],
    ["AKIAIOSFODNN7EXAMPLE", "[secret]"],
    ["Authorization: Bearer abc.def-ghi_jkl123", "Authorization: Bearer [secret]"],
    ['{"password": "hunter2222"}', '{"password": "[secret]"}'],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "[secret]"],
  ];
  for (const [given, kept] of cases) assert.equal(redact(given), kept);
});

test("what only looks like it stays", () => {
  for (const text of [
    "4111 1111 1111 1112 is no card", // the last digit breaks Luhn's sum
    "DE88370400440532013000 is no IBAN",
    "version 1.2.3, at 12:30:45 on 2026-11-21",
    "999.1.1.1 and std::vector and a@b",
    "order 20261121-000124, 3.14159265358979",
    "the token ring, a secret garden",
  ]) {
    assert.equal(redact(text), text);
  }
});

test("check digits, by hand", () => {
  // 79927398713: from the right 3+2+7+16→7+9+6+7+4+9+18→9+7 = 70
  assert.equal(luhn("79927398713"), true);
  for (let d = 0; d < 10; d++) assert.equal(luhn(`7992739871${d}`), d === 3);
  assert.equal(ibanLength("GB82WEST12345698765432"), 22);
  assert.equal(ibanLength("GB82 WEST 1234 5698 7654 32"), 27);
  assert.equal(ibanLength("GB28WEST12345698765432"), 0);
  // what follows may look like a part of it
  assert.equal(ibanLength("GB82 WEST 1234 5698 7654 32 THEN"), 27);
});

test("pseudonyms: equal things have equal names, under one secret", () => {
  const options = { pseudonyms: true };
  const text = redact("a@b.example A@B.example c@d.example +49 30 1234567 +49301234567", options);
  const [first, second, third, phone, same] = text.split(" ");
  assert.match(first!, /^\[email:[\w-]{8}\]$/);
  assert.equal(first, second);
  assert.notEqual(first, third);
  assert.equal(phone, same);
  assert.notEqual(redactor(options, Buffer.alloc(32, 2)).text("a@b.example"), first);
});

/** What becomes of one entry. */
async function kept<K extends Write["kind"]>(
  entry: Extract<Write, { readonly kind: K }>,
  options: RedactionOptions = {},
): Promise<Extract<Write, { readonly kind: K }>> {
  const [first] = await redactor(options, secret).entries([entry]);
  assert.ok(first?.kind === entry.kind);
  return first as typeof entry;
}

test("messages, tool arguments, comments, corrections, tags and names; token ids of changed words go, and are counted", async () => {
  const counts: Record<string, number> = {};
  const onRedacted = (what: string, n: number): void => {
    counts[what] = (counts[what] ?? 0) + n;
  };
  const clean = served("s", 1);
  assert.deepEqual(await kept({ kind: "response", response: clean }, { onRedacted }), {
    kind: "response",
    response: clean,
  });
  assert.deepEqual(counts, {});

  const call = { id: "1", name: "pay", arguments: '{ "card": 4111111111111111, "to": ["a@b.example", 1] }' };
  const dirty = served("ann@b.example", 0, {
    user: "ann@b.example",
    settings: { user: "ann@b.example", temperature: 1 },
    prompt: [{ role: "user", content: "hello" }],
    choices: [
      {
        message: { role: "assistant", content: "", toolCalls: [call] },
        stop: "eos",
        tokens: clean.choices[0]!.tokens!,
      },
      { message: { role: "assistant", content: "hi" }, stop: "eos", tokens: clean.choices[0]!.tokens! },
    ],
    tags: { from: "10.0.0.1" },
  });
  const { response } = await kept({ kind: "response", response: dirty }, { onRedacted });
  const { session, user, trajectory, settings, choices, tags } = response;
  assert.match(session, /^\[email:[\w-]{8}\]$/);
  assert.deepEqual([user, trajectory], [session, `${session}/0`]);
  assert.deepEqual(settings, { user: "[email]", temperature: 1 });
  assert.deepEqual(JSON.parse(choices[0]!.message.toolCalls![0]!.arguments), {
    card: "[card]",
    to: ["[email]", 1],
  });
  assert.deepEqual(
    choices.map((choice) => choice.tokens !== undefined),
    [false, true],
  );
  assert.deepEqual(tags, { from: "[ip]" });
  assert.equal(counts.tokens, 1);

  const given = await kept({
    kind: "signal",
    signal: signal("a", {
      text: "mail a@b.example",
      about: [{ session: "ann@b.example" }],
      tags: { x: "+49 30 1234567" },
    }),
  });
  assert.equal(given.signal.text, "mail [email]");
  assert.deepEqual(given.signal.about, [{ session }]);
  assert.deepEqual(given.signal.tags, { x: "[phone]" });
});

test("whoever speaks, tools, calls, fields, channels and the model; a call's id stays the one that its result names", async () => {
  const mail = "ann@b.example";
  const call = { id: `call_${mail}`, name: `mail ${mail}`, arguments: `{"${mail}":1}` };
  const schema = { type: "object", properties: { [mail]: { type: "string", description: `as ${mail}` } } };
  const { response } = await kept({
    kind: "response",
    response: served("s", 0, {
      model: mail,
      channels: [mail],
      tags: { [mail]: "x" },
      settings: { metadata: { [mail]: "x" } },
      prompt: [
        {
          role: "system",
          content: "",
          tools: [{ name: `mail ${mail}`, description: `writes to ${mail}`, parameters: schema }],
        },
        { role: "user", content: "hello", name: mail },
        { role: "assistant", content: "", toolCalls: [call] },
        { role: "tool", content: "done", toolCallId: call.id },
      ],
      choices: [],
    }),
  });
  assert.ok(!JSON.stringify(response).includes("@"), JSON.stringify(response));
  const [system, user, assistant, tool] = response.prompt;
  const { id, name, arguments: given } = assistant!.toolCalls![0]!;
  assert.match(id, /^\[email:[\w-]{8}\]$/);
  assert.equal(tool!.toolCallId, id);
  assert.equal(system!.tools![0]!.name, name);
  // a name is the same wherever it stands
  assert.match(user!.name!, /^\[email:[\w-]{8}\]$/);
  const field = user!.name!;
  assert.deepEqual(JSON.parse(given), { [field]: 1 });
  assert.deepEqual(system!.tools![0], {
    name: `mail ${field}`,
    description: "writes to [email]",
    parameters: { type: "object", properties: { [field]: { type: "string", description: "as [email]" } } },
  });
  assert.deepEqual([response.model, response.channels, response.tags], [field, [field], { [field]: "x" }]);
  assert.deepEqual(response.settings, { metadata: { [field]: "x" } });
});

test("a private key goes from its first line to its last, wherever those stand", () => {
  const [begin, end] = ["-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"];
  assert.equal(redact(`a ${begin}\nMIIE\n${end} b`), "a [secret] b");
  assert.equal(redact(`a ${begin} ${begin} x ${end} b ${end}`), `a [secret] b ${end}`);
  assert.equal(redact(`${begin}${"x".repeat(8000)}${end}`), "[secret]");
  // too far from the first line, near enough to the second
  const far = `${begin}${"x ".repeat(4100)}`;
  assert.equal(redact(`${far}${begin}x${end}`), `${far}[secret]`);
  assert.equal(redact(`${end} ${begin}`), `${end} ${begin}`);
});

test("in a long text all is found that is found in a short one, wherever it stands", () => {
  const found = [
    "Ann.O'Neil+x@mail.example.co.uk",
    "DE89 3704 0044 0532 0130 00",
    "4111 1111 1111 1111",
    "2001:db8::ff00:42:8329",
    "0049 30 12345678",
    `eyJ${"h".repeat(100)}.${"e".repeat(3000)}.c2ln`,
    `-----BEGIN PRIVATE KEY-----\n${"M".repeat(4000)}\n-----END PRIVATE KEY-----`,
    "Bearer abc.def-ghi_jkl123",
  ];
  for (const secretText of found) {
    const short = redact(`x ${secretText} x`);
    assert.notEqual(short, `x ${secretText} x`);
    const steps = Math.max(1, Math.floor(secretText.length / 40));
    for (let before = 2 ** 15 - secretText.length - 3; before < 2 ** 15 + 3; before += steps) {
      const [left, right] = ["- ".repeat(before / 2), " -".repeat(2 ** 14)];
      assert.equal(redact(`${left}x ${secretText} x${right}`), `${left}${short}${right}`, `${before}`);
    }
  }
  // no place is found twice or left out where stretches meet
  const many = "a@b.example ".repeat(10_000);
  assert.equal(redact(many), "[email] ".repeat(10_000));
});

test("own patterns: counted ways through them, and none that could run long", () => {
  // \d{6,8}: 3 ways; (a|bc): 2; (a|b){1,3}: 2 + 4 + 8; x?: 2
  const ways: readonly (readonly [string, number | undefined])[] = [
    ["\\bK-\\d{6,8}\\b", 3],
    ["(?:a|bc)x?", 4],
    ["(a|b){1,3}", 14],
    ["[\\]a-z+*]{2}", 1],
    ["a+", Number.POSITIVE_INFINITY],
    ["(a{1,2}){2,}", Number.POSITIVE_INFINITY],
    ["(a)\\1", undefined],
    ["a(?=b)", undefined],
  ];
  for (const [pattern, count] of ways) assert.equal(extentOf(pattern)?.ways, count, pattern);
  assert.deepEqual(extentOf("\\p{L}{2,3}(?:ab|c){4}"), { ways: 32, length: 11 });
  assert.equal(
    redact("customer K-1234567!", { patterns: { customer: "\\bK-\\d{6,8}\\b" } }),
    "customer [customer]!",
  );
  for (const [pattern, words] of [
    ["(a+)+$", /unlimited ways.*\{1,20\}/],
    ["(", /a regular expression/],
    ["a?", /matches the empty text/],
    ["(?<=a)b", /without backreferences and lookarounds/],
    ["(a|a){1,30}", /at most 500/],
    ["(a{100}){101}b", /up to 10101 characters, expected at most 10000/],
  ] as const) {
    assert.throws(() => boundedPattern("x", pattern), withCode("option.range", words));
  }
});

test("no text makes redaction slow, and what is clean stays as it is", () => {
  const unit = fc.constantFrom(
    "a",
    "1",
    "@",
    ".",
    "-",
    ":",
    " ",
    "+",
    "(",
    "sk-",
    "eyJ",
    "DE89",
    "0",
    "token=",
    "é",
  );
  fc.assert(
    fc.property(fc.array(unit, { minLength: 1, maxLength: 4 }), (parts) => {
      const long = parts.join("").repeat(5000);
      const begun = performance.now();
      redact(long);
      assert.ok(performance.now() - begun < 2000, `${JSON.stringify(parts)} × 5000`);
    }),
    { seed: 1, numRuns: 60 },
  );
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(..."abcdef ,;!?äö".split("")) }),
      (text) => redact(text) === text,
    ),
    { seed: 1, numRuns: 200 },
  );
});
