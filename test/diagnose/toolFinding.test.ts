// A chat template that leaves tools out is told from one that hands them over.
import assert from "node:assert/strict";
import { test } from "node:test";
import { toolFindings } from "../../src/diagnose/environment/toolFinding.ts";
import { chatCodec } from "../../src/engine/local/codec.ts";
import { byteTokenizer } from "../../src/engine/local/tokenizer.ts";
import { bpeTokenizer } from "../engine/local/chatModels.ts";

const tools = [{ name: "look_up", description: "Looks a word up.", parameters: { type: "object" } }];
const body = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}";
const asking = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
const codecOf = (template: string) =>
  chatCodec(bpeTokenizer(["<|im_start|>", "<|im_end|>"], { eos_token: "<|im_end|>" }, template));

test("a template without a place for tools is named with the tools", () => {
  const [finding] = toolFindings(tools, codecOf(body + asking));
  assert.deepEqual([finding?.check, finding?.severity], ["tools", "warning"]);
  assert.match(finding!.problem, /does not support tools, so the model does not see look_up/);
});

test("nothing is said of a template that takes them, of our own form, or without tools", () => {
  const offering = `{% if tools %}<|im_start|>system\n{{ tools | tojson }}<|im_end|>\n{% endif %}${body}${asking}`;
  assert.deepEqual(toolFindings(tools, codecOf(offering)), []);
  assert.deepEqual(toolFindings(tools, chatCodec(byteTokenizer())), []);
  assert.deepEqual(toolFindings([], codecOf(body + asking)), []);
});
