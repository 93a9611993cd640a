import assert from "node:assert/strict";
import { test } from "node:test";
import { readCalls } from "../../../src/common/text/toolCalls.ts";
import { concatIds } from "../../../src/common/tokens/sequence.ts";
import type { Message, StopReason } from "../../../src/core/types.ts";
import { chatCodec } from "../../../src/engine/local/codec.ts";
import { templateCodec } from "../../../src/engine/local/templateCodec.ts";
import { loadTokenizer, type TokenizerFiles } from "../../../src/engine/local/tokenizer.ts";
import { bpeTokenizer, chatMl, idsOf, tokenizers } from "./chatModels.ts";
import { failsWith } from "./support.ts";

const codecs = {
  chatMl: chatCodec(tokenizers.chatMl),
  headers: chatCodec(tokenizers.headers),
  thinking: chatCodec(tokenizers.thinking),
  instructions: chatCodec(tokenizers.instructions),
};
const names = ["chatMl", "headers", "thinking", "instructions"] as const;

/** The ids of a text in which special tokens are written out, as other implementations read it. */
const idsOfText = (files: TokenizerFiles, text: string): Int32Array =>
  Int32Array.from(loadTokenizer(files).encode(text, { add_special_tokens: false }).ids);

const user = (content: string): Message => ({ role: "user", content });
const assistant = (content: string): Message => ({ role: "assistant", content });

test("templateCodec renders the template and reads its special tokens", () => {
  const conversation: Message[] = [user("\n\nhello the user <think> 猫 12\n")];
  const texts = {
    chatMl:
      "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n\n\nhello the user <think> 猫 12\n<|im_end|>\n<|im_start|>assistant\n",
    headers:
      "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nToday: 26 Jul 2024\n\n<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nhello the user <think> 猫 12<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    thinking: "<|im_start|>user\n\n\nhello the user <think> 猫 12\n<|im_end|>\n<|im_start|>assistant\n",
    instructions: "<s>[INST] \n\nhello the user <think> 猫 12\n [/INST]",
  };
  for (const name of names) {
    assert.deepEqual(codecs[name].open(conversation), idsOfText(tokenizers[name], texts[name]), name);
  }
});

test("templateCodec takes the token that closes a reply as the end, whatever eos_token says", () => {
  const content = (name: (typeof names)[number], id: number): string | undefined =>
    loadTokenizer(tokenizers[name]).id_to_token(id);
  const ends = names.map((name) => [content(name, codecs[name].endId), content(name, codecs[name].padId)]);
  assert.deepEqual(ends, [
    ["<|im_end|>", "<|endoftext|>"],
    ["<|eot_id|>", "<|eot_id|>"], // no padding of its own
    ["<|im_end|>", "<|endoftext|>"],
    ["</s>", "</s>"],
  ]);
  for (const name of names) assert.equal(codecs[name].vocabulary, idsOf(tokenizers[name]));
});

test("templateCodec grows one sequence that is the template's own, however a reply stopped", () => {
  for (const name of names) {
    const codec = codecs[name];
    const replies = ["the hello", "hello 12"];
    for (const stop of ["eos", "length", "stop", "cut"] as const satisfies StopReason[]) {
      const reply = (text: string): Int32Array => {
        // the template of plain instructions wants a space on both sides of a reply
        const ids = codec.encode(name === "instructions" ? ` ${text}` : text);
        return stop === "eos" ? concatIds([ids, Int32Array.of(codec.endId)]) : ids;
      };
      const grown = concatIds([
        codec.open([user("one")]),
        reply(replies[0]!),
        codec.extend(stop, [user("two")]),
        reply(replies[1]!),
        codec.extend(stop, [user("three")]),
      ]);
      const whole = codec.open([
        user("one"),
        assistant(replies[0]!),
        user("two"),
        assistant(replies[1]!),
        user("three"),
      ]);
      if (name === "instructions" && stop === "eos") {
        // what was sampled stands: the reply without the space that the template would have put before its end
        const space = codec.encode(" ")[0]!;
        assert.equal(grown.length, whole.length - 2);
        assert.deepEqual(
          [...grown].filter((id) => id !== space),
          [...whole].filter((id) => id !== space),
        );
      } else {
        assert.deepEqual(grown, whole, `${name} ${stop}`);
      }
    }
  }
});

test("templateCodec.extend gives what follows a reply, where the template would rewrite it", () => {
  // rendered as a whole, the thought of the first reply is left out; in the sequence it stays
  const { thinking } = codecs;
  const closed = "<|im_end|>\n<|im_start|>user\nagain<|im_end|>\n<|im_start|>assistant\n";
  assert.deepEqual(thinking.extend("length", [user("again")]), idsOfText(tokenizers.thinking, closed));
  // after a tool the reply still has its thought, before a question it has not: the same suffix
  const tool: Message = { role: "tool", content: "42" };
  const results = "\n<|im_start|>tool\n42<|im_end|>\n<|im_start|>assistant\n";
  assert.deepEqual(thinking.extend("eos", [tool]), idsOfText(tokenizers.thinking, results));
});

test("templateCodec hands over tool calls, results and names", () => {
  const { chatMl: codec } = codecs;
  const call: Message = {
    role: "assistant",
    content: "hm",
    toolCalls: [{ id: "1", name: "find", arguments: '{"what": "the"}' }],
  };
  const text =
    '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\nhm\n<tool_call>\n{"name": "find", "arguments": {"what": "the"}}\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\na\n</tool_response>\n<tool_response>\nb\n</tool_response><|im_end|>\n<|im_start|>assistant\n';
  const results: Message[] = [
    { role: "tool", content: "a", toolCallId: "1" },
    { role: "tool", content: "b", toolCallId: "2", name: "find" },
  ];
  assert.deepEqual(codec.open([user("q"), call, ...results]), idsOfText(tokenizers.chatMl, text));
  assert.deepEqual(
    codec.extend("eos", results),
    idsOfText(tokenizers.chatMl, text.slice(text.indexOf("</tool_call><|im_end|>") + 22)),
  );
});

test("templateCodec keeps content from forging a special token", () => {
  for (const name of names) {
    const codec = codecs[name];
    const files = tokenizers[name];
    const tokens = [...loadTokenizer(files).get_added_tokens_decoder().values()].filter((t) => t.special);
    const specialIds = new Set(tokens.map((t) => t.id));
    const count = (ids: Int32Array): number => [...ids].filter((id) => specialIds.has(id)).length;
    const honest = count(codec.open([user("x")]));
    const spelled = tokens.map((t) => t.content);
    const forged = [
      ...spelled,
      spelled.join(""),
      `a ${spelled.join(" ")} b`,
      ...spelled.map((s) => `${s.slice(0, 2)}${s}${s.slice(2)}`),
      ...spelled.map((s) => s.slice(0, -1)), // which the template's next character must not complete
      ...spelled.map((s) => `${s.slice(0, 1)}\u{fdd0}${s.slice(1)}`),
      `<<|im_end|><|im_end|`,
    ];
    for (const text of forged) {
      assert.equal(count(codec.open([user(text)])), honest, `${name} open ${text}`);
      assert.equal(count(codec.encode(text)), 0, `${name} encode ${text}`);
      const more = codec.extend("eos", [user("x")]);
      assert.equal(count(codec.extend("eos", [user(text)])), count(more), `${name} extend ${text}`);
      // nothing of the text is lost, but for what no text should have
      if (!text.includes("\u{fdd0}")) assert.equal(codec.decode(codec.encode(text)), text);
    }
  }
  const call: Message = {
    role: "assistant",
    content: "",
    toolCalls: [{ id: "1", name: "<|im_end|>", arguments: '{"<|im_start|>": ["<|im_end|>"]}' }],
  };
  const { chatMl: codec } = codecs;
  const ends = (ids: Int32Array): number => [...ids].filter((id) => id === codec.endId).length;
  assert.equal(ends(codec.open([user("q"), call])), 3);
});

test("templateCodec gives texts back and leaves special tokens out", () => {
  for (const name of names) {
    const codec = codecs[name];
    for (const text of [" hello  the\n\nuser", "ünïcode 猫 🐈", "<think>\nhm\n</think>", "trailing ", ""]) {
      assert.equal(codec.decode(codec.encode(text)), text, `${name} ${text}`);
    }
    const ids = concatIds([codec.encode("hello"), Int32Array.of(codec.endId, codec.padId)]);
    assert.equal(codec.decode(ids), "hello");
    assert.equal(codec.decode(Int32Array.of(codec.endId)), "");
    // a row of the model that no token belongs to
    assert.equal(codec.decode(Int32Array.of(codec.vocabulary + 3)), "");
  }
  // a thought is one token where the tokenizer has one
  assert.equal(codecs.chatMl.encode("<think>").length, 1);
});

test("templateCodec leaves white space out beside tokens that swallow it", () => {
  const files = bpeTokenizer(
    ["<|im_start|>", { content: "<|im_end|>", rstrip: true }],
    { eos_token: "<|im_end|>" },
    chatMl,
  );
  const codec = chatCodec(files);
  const text =
    "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n";
  assert.deepEqual(codec.open([user("q")]), idsOfText(files, text));
  // the line's end after the sampled end of turn is swallowed too
  assert.deepEqual(
    codec.extend("eos", [user("q")]),
    idsOfText(files, "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n"),
  );
});

test("templateCodec takes a token as the end that the tokenizer does not call special", () => {
  const files = bpeTokenizer(
    ["<s>", { content: "<|im_start|>", special: false }, { content: "<|im_end|>", special: false }],
    { eos_token: "<s>" },
    chatMl,
  );
  const codec = chatCodec(files);
  assert.equal(loadTokenizer(files).id_to_token(codec.endId), "<|im_end|>");
  assert.ok(![...codec.encode("<|im_end|>")].includes(codec.endId));
});

test("templateCodec takes vocabularies of the size that published models have", () => {
  const model = { ...(tokenizers.chatMl.tokenizer.model as { readonly vocab: Record<string, number> }) };
  const more = Array.from({ length: 150_000 }, (_, i) => [`§${i}`, 1000 + i] as const);
  const files = {
    ...tokenizers.chatMl,
    tokenizer: {
      ...tokenizers.chatMl.tokenizer,
      model: { ...model, vocab: { ...model.vocab, ...Object.fromEntries(more) } },
    },
  };
  const codec = chatCodec(files);
  assert.equal(codec.vocabulary, 151_000);
  assert.deepEqual(codec.open([user("hello")]), codecs.chatMl.open([user("hello")]));
  assert.equal(chatCodec(files), codec, "set up once");
});

test("templateCodec hands the template's variables over", () => {
  const codec = chatCodec({ ...tokenizers.thinking, variables: { enable_thinking: false } });
  const text = "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";
  assert.deepEqual(codec.open([user("q")]), idsOfText(tokenizers.thinking, text));
});

test("templateCodec says what a template refuses, and what a folder lacks", () => {
  assert.throws(
    () => codecs.instructions.open([user("a"), user("b")]),
    failsWith("template.failed", /got roles must alternate/),
  );
  assert.throws(
    () => codecs.headers.extend("eos", [{ role: "system", content: "now" }]),
    failsWith("template.failed", /a system in the middle/),
  );
  const { template: _, ...base } = tokenizers.chatMl;
  assert.throws(() => chatCodec(base), failsWith("template.failed", /got none.*instruction-tuned/));
  const broken = { ...tokenizers.chatMl, template: "{% for m in messages %}" };
  assert.throws(() => chatCodec(broken), failsWith("template.failed", /ends too early/));
  const silent = { ...tokenizers.chatMl, template: "{{ messages[0].content }}" };
  assert.throws(() => chatCodec(silent), failsWith("template.failed", /leaves out replies/));
  const endless = bpeTokenizer([], {}, "{% for m in messages %}{{ m.content }}{% endfor %}");
  assert.throws(
    () => chatCodec(endless),
    failsWith("checkpoint.damaged", /a tokenizer without an end-of-turn token/),
  );
});

test("templateCodec hands offered tools to the template, and no empty message that carries them", () => {
  const files = {
    ...tokenizers.chatMl,
    template: `{% if tools %}{{ 'tools: ' + (tools | tojson) + '\\n' }}{% endif %}${chatMl}`,
  };
  const codec = templateCodec(files);
  const look = { name: "find", description: "the <|im_end|>", parameters: { type: "object" } };
  const seen = (messages: readonly Message[]): string =>
    [...codec.open(messages)].map((id) => loadTokenizer(files).decode([id])).join("");
  const offer: Message = { role: "system", content: "", tools: [look] };
  const shown = '{"type": "function", "function": {"name": "find"';
  assert.equal(seen([offer, user("q")]).split("tools: ").length, 2);
  assert.ok(seen([offer, user("q")]).includes(shown));
  assert.ok(
    seen([offer, user("q")]).includes("<|im_start|>system\nBe brief."),
    "as without a system message",
  );
  assert.ok(
    seen([{ ...offer, content: "hello" }, user("q")]).includes("<|im_start|>system\nhello<|im_end|>"),
  );
  assert.deepEqual(codec.open([{ ...offer, tools: [] }, user("q")]), codec.open([user("q")]));
  // what a description spells is text
  const ends = (messages: readonly Message[]): number =>
    codec.open(messages).filter((id) => id === codec.endId).length;
  assert.equal(ends([offer, user("q")]), ends([user("q")]));
});

test("templateCodec writes tools, calls and results as text where it is asked to, and readCalls reads them back", () => {
  const files = { ...tokenizers.chatMl, variables: { tools_in_text: true } };
  const [codec, plain] = [templateCodec(files), templateCodec(tokenizers.chatMl)];
  const find = { name: "find", description: "finds", parameters: { type: "object" } };
  const call = { id: "1", name: "find", arguments: '{"item":"hello"}' };
  const text = (ids: Int32Array): string => plain.decode(ids);
  const written = '<tool_call>\n{"name":"find","arguments":{"item":"hello"}}\n</tool_call>';
  const opened = codec.open([
    { role: "system", content: "", tools: [find] },
    { role: "system", content: "the hello" },
    user("q"),
    { role: "assistant", content: "", toolCalls: [call] },
    { role: "tool", content: "12", toolCallId: "1" },
    { role: "tool", content: "猫", toolCallId: "2" },
  ]);
  const offered = /You can call these tools:\n<tools>\n(.*)\n<\/tools>/.exec(text(opened));
  assert.deepEqual(JSON.parse(offered![1]!).function, find);
  assert.ok(text(opened).includes("the hello\n\nYou can call these tools:"), "one system message");
  assert.ok(text(opened).includes(written));
  assert.ok(
    text(opened).includes("<tool_response>\n12\n</tool_response>\n<tool_response>\n猫\n</tool_response>"),
    "results that follow each other are one message",
  );
  assert.equal(opened.filter((id) => id === codec.endId).length, 4); // system, user, assistant, both results
  assert.deepEqual(readCalls(written, [find]).calls, [{ name: "find", arguments: '{"item":"hello"}' }]);
  // the results after a reply, and a conversation without tools
  const results = codec.extend("eos", [{ role: "tool", content: "12", toolCallId: "1" }]);
  assert.ok(text(results).includes("<tool_response>\n12\n</tool_response>"));
  assert.deepEqual(
    codec.open([{ role: "system", content: "", tools: [] }, user("q")]),
    plain.open([user("q")]),
  );
  assert.deepEqual(codec.open([user("q")]), plain.open([user("q")]));
});
