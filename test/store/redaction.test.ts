import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { boundedPattern, waysThrough } from "../../src/store/boundedPattern.ts";
import { ibanCheck, luhn } from "../../src/store/personalData.ts";
import { type RedactionOptions, redactor } from "../../src/store/redaction.ts";
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
  assert.equal(ibanCheck("GB82WEST12345698765432"), true);
  assert.equal(ibanCheck("GB28WEST12345698765432"), false);
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

test("messages, tool arguments, comments, corrections, tags and names; token ids of changed words go, and are counted", () => {
  const counts: Record<string, number> = {};
  const onRedacted = (what: string, n: number): void => {
    counts[what] = (counts[what] ?? 0) + n;
  };
  const { entry } = redactor({ onRedacted }, secret);
  const clean = served("s", 1);
  assert.deepEqual(entry({ kind: "response", response: clean }), { kind: "response", response: clean });
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
  const kept = entry({ kind: "response", response: dirty });
  assert.ok(kept.kind === "response");
  const { session, user, trajectory, settings, choices, tags } = kept.response;
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

  const given = entry({
    kind: "signal",
    signal: signal("a", {
      text: "mail a@b.example",
      about: [{ session: "ann@b.example" }],
      tags: { x: "+49 30 1234567" },
    }),
  });
  assert.ok(given.kind === "signal");
  assert.equal(given.signal.text, "mail [email]");
  assert.deepEqual(given.signal.about, [{ session }]);
  assert.deepEqual(given.signal.tags, { x: "[phone]" });
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
  for (const [pattern, count] of ways) assert.equal(waysThrough(pattern), count, pattern);
  assert.equal(
    redact("customer K-1234567!", { patterns: { customer: "\\bK-\\d{6,8}\\b" } }),
    "customer [customer]!",
  );
  for (const [pattern, words] of [
    ["(a+)+$", /unlimited ways.*\{1,20\}/],
    ["(", /a regular expression/],
    ["a?", /finds nothing everywhere/],
    ["(?<=a)b", /looks to the side/],
    ["(a|a){1,30}", /at most 500/],
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
