import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { chatCodec } from "../../../src/engine/local/codec.ts";
import { startReader } from "../../../src/engine/local/reader.ts";
import type { TokenizerFiles } from "../../../src/engine/local/tokenizer.ts";
import { withCode } from "../../train/world.ts";

const read = (name: string) =>
  z
    .looseObject({})
    .parse(JSON.parse(readFileSync(join(import.meta.dirname, "fixtures/smollm", name), "utf8")));
const files: TokenizerFiles = {
  tokenizer: read("tokenizer.json"),
  config: read("tokenizer_config.json"),
  template: "{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}",
};
const user = (content: string) => [{ role: "user", content }] as const;
const endless: TokenizerFiles = {
  ...files,
  tokenizer: {
    ...files.tokenizer,
    pre_tokenizer: {
      type: "Split",
      pattern: { Regex: "(a+)+$" },
      behavior: "Isolated",
      invert: false,
    },
  },
};

test("a conversation is read in a thread as the codec reads it, and refused as the codec refuses it", async () => {
  const reader = startReader(files);
  try {
    assert.deepEqual(await reader.read(user("one two")), chatCodec(files).open(user("one two")));
  } finally {
    reader.close();
  }
  const refusing = startReader({
    ...files,
    template:
      "{% if messages[0].content == 'no' %}{{ raise_exception('not this') }}{% endif %}{{ messages[-1].content }}<|im_end|>",
  });
  try {
    await assert.rejects(refusing.read(user("no")), withCode("template.failed", /not this/));
    assert.ok((await refusing.read(user("yes"))).length > 0);
  } finally {
    refusing.close();
  }
});

test("an expression that never ends costs its own conversation, and the event loop goes on meanwhile", async () => {
  const reader = startReader(endless, 0.5);
  let beats = 0;
  const beating = setInterval(() => beats++, 10);
  try {
    await reader.read(user("b")); // the thread is there
    const before = beats;
    const [late, short] = await Promise.allSettled([
      reader.read(user(`${"a".repeat(60)}!`)),
      reader.read(user("a b")),
    ]);
    assert.ok(late.status === "rejected");
    assert.ok(withCode("template.failed", /no tokens within 0.5 s/)(late.reason));
    assert.deepEqual(short.status === "fulfilled" && short.value, chatCodec(endless).open(user("a b")));
    assert.ok(beats - before > 10, `${beats - before} beats`);
  } finally {
    clearInterval(beating);
    reader.close();
  }
});

const loops =
  "{% for a in range(30000) %}{% for b in range(30000) %}{% for c in range(30000) %}{% endfor %}{% endfor %}{% endfor %}";

test("a template whose loops never end is refused when it is opened", () => {
  assert.throws(
    () => chatCodec({ ...files, template: `${loops}${files.template}` }),
    withCode("template.failed", /no result within 3 s/),
  );
});

test("a template that loops on some conversations only is refused for these", () => {
  const template = `{% if messages[0].content == "go" %}${loops}{% endif %}${files.template}`;
  const codec = chatCodec({ ...files, template });
  const start = performance.now();
  assert.throws(() => codec.open(user("go")), withCode("template.failed", /no result within 3 s/));
  assert.ok(performance.now() - start < 15_000);
  assert.deepEqual(codec.open(user("b")), chatCodec(files).open(user("b")));
});
