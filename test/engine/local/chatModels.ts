/** Small checkpoints in the form of Hugging Face folders: byte-level tokenizers, chat templates, random weights. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DecoderConfig } from "../../../src/engine/local/config.ts";
import { toHuggingFace } from "../../../src/engine/local/huggingFaceConfig.ts";
import { parametersOf, type Weights } from "../../../src/engine/local/parameters.ts";
import {
  type NamedTensor,
  openSafetensors,
  writeSafetensors,
} from "../../../src/engine/local/safetensors.ts";
import type { TokenizerFiles } from "../../../src/engine/local/tokenizer.ts";
import { livelyWeights, tinyConfig } from "./support.ts";

/** GPT-2's printable stand-ins for the 256 bytes. */
const bytes = Array.from({ length: 256 }, (_, b) => b);
const printable = bytes.filter((b) => (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174);
const alphabet = bytes.map((b) =>
  String.fromCodePoint(
    printable.includes(b) ? b : 256 + bytes.filter((c) => c < b && !printable.includes(c)).length,
  ),
);

const merges = [
  ["h", "e"],
  ["l", "l"],
  ["he", "ll"],
  ["hell", "o"],
  ["Ġ", "hello"],
  ["u", "s"],
  ["us", "er"],
  ["e", "r"],
  ["Ċ", "Ċ"],
  ["<", "|"],
  ["|", ">"],
  ["i", "m"],
  ["t", "h"],
  ["th", "e"],
  ["Ġ", "the"],
] as const;

export interface SpecialToken {
  readonly content: string;
  readonly special?: boolean;
  readonly rstrip?: boolean;
}

/** A byte-level BPE tokenizer like those of Qwen, Llama 3 and SmolLM, with these tokens added at its end. */
export function bpeTokenizer(
  added: readonly (string | SpecialToken)[],
  config: Readonly<Record<string, unknown>>,
  template?: string,
): TokenizerFiles {
  const vocab = [...alphabet, ...merges.map((pair) => pair.join(""))];
  return {
    tokenizer: {
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: added.map((token, i) => ({
        id: vocab.length + i,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: true,
        ...(typeof token === "string" ? { content: token } : token),
      })),
      normalizer: { type: "NFC" },
      pre_tokenizer: {
        type: "Sequence",
        pretokenizers: [
          {
            type: "Split",
            pattern: { Regex: "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*| ?\\p{L}+|\\s*[\\r\\n]+|\\s+" },
            behavior: "Isolated",
            invert: false,
          },
          { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
        ],
      },
      post_processor: { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
      decoder: { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
      model: {
        type: "BPE",
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: false,
        vocab: Object.fromEntries(vocab.map((token, id) => [token, id])),
        merges: merges.map((pair) => pair.join(" ")),
      },
    },
    config: { tokenizer_class: "PreTrainedTokenizerFast", clean_up_tokenization_spaces: false, ...config },
    ...(template === undefined ? {} : { template }),
  };
}

/** A default system prompt, as Qwen2.5 has one. */
export const chatMl = `{%- if messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\nBe brief.<|im_end|>\\n' }}{% endif %}
{%- for m in messages %}
{%- if m.role == 'tool' %}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{ '<|im_start|>user' }}{% endif %}
{{- '\\n<tool_response>\\n' + m.content + '\\n</tool_response>' }}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{ '<|im_end|>\\n' }}{% endif %}
{%- else %}
{{- '<|im_start|>' + m.role + '\\n' + m.content }}
{%- for call in m.tool_calls or [] %}{{ '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}\\n</tool_call>' }}{% endfor %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}`;

/** A template with today's date at the start, trimmed texts, and nothing between turns. */
export const headers = `{%- if not tools is defined %}{% set tools = none %}{% endif %}
{{- bos_token }}
{{- '<|start_header_id|>system<|end_header_id|>\\n\\nToday: ' + strftime_now('%d %b %Y') + '\\n\\n' }}
{%- if messages[0].role == 'system' %}{{ messages[0].content | trim }}{% set rest = messages[1:] %}{% else %}{% set rest = messages %}{% endif %}
{{- '<|eot_id|>' }}
{%- for m in rest %}
{%- if m.role not in ['user', 'assistant', 'tool'] %}{{ raise_exception('a ' + m.role + ' in the middle') }}{% endif %}
{%- if tools is not none %}{{ raise_exception('no tools here') }}{% endif %}
{{- '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' + m.content | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}`;

/** A template that leaves out the thoughts of turns before the last question, and always shows later ones. */
export const thinking = `{%- set ns = namespace(last=-1) %}
{%- for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}
{%- for m in messages %}
{%- if m.role == 'assistant' %}
{%- set content = m.content %}
{%- set thought = '' %}
{%- if '</think>' in content %}
{%- set thought = content.split('</think>')[0].split('<think>')[-1].strip('\\n') %}
{%- set content = content.split('</think>')[-1].lstrip('\\n') %}
{%- endif %}
{{- '<|im_start|>assistant\\n' }}
{%- if loop.index0 > ns.last %}{{ '<think>\\n' + thought + '\\n</think>\\n\\n' }}{% endif %}
{{- content + '<|im_end|>\\n' }}
{%- else %}
{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}
{%- endif %}`;

/** A template with alternating turns in plain text, closed by a space and the end of the sequence. */
export const instructions = `{{- bos_token }}
{%- for m in messages %}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}
{%- if m.role == 'user' %}{{ '[INST] ' + m.content + ' [/INST]' }}{% else %}{{ ' ' + m.content + ' ' + eos_token }}{% endif %}
{%- endfor %}`;

const chatMlTokens = [
  "<|endoftext|>",
  "<|im_start|>",
  "<|im_end|>",
  { content: "<think>", special: false },
  { content: "</think>", special: false },
  { content: "<tool_call>", special: false },
];

export const tokenizers = {
  chatMl: bpeTokenizer(
    chatMlTokens,
    { eos_token: "<|im_end|>", pad_token: "<|endoftext|>", bos_token: null },
    chatMl,
  ),
  // a base model's end of text, another end of turn, no padding
  headers: bpeTokenizer(
    ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
    { bos_token: "<|begin_of_text|>", eos_token: { content: "<|end_of_text|>", __type: "AddedToken" } },
    headers,
  ),
  thinking: bpeTokenizer(chatMlTokens, { eos_token: "<|im_end|>", pad_token: "<|endoftext|>" }, thinking),
  instructions: bpeTokenizer(["<s>", "</s>"], { bos_token: "<s>", eos_token: "</s>" }, instructions),
} as const satisfies Readonly<Record<string, TokenizerFiles>>;

/** Number of ids of a tokenizer made here. */
export const idsOf = (files: TokenizerFiles): number =>
  alphabet.length + merges.length + [files.tokenizer.added_tokens].flat().length;

/** A decoder for one of the tokenizers, with a few rows that no token uses. */
export const chatConfig = (files: TokenizerFiles, more: Partial<DecoderConfig> = {}): DecoderConfig => ({
  ...tinyConfig,
  vocabulary: idsOf(files) + 5,
  contextTokens: 512,
  ...more,
});

export interface PublishedOptions {
  readonly config: DecoderConfig;
  readonly tokenizer: TokenizerFiles;
  readonly weights?: Weights;
}

/** Writes a folder as other tools publish it: without counters and optimiser state. */
export async function publish(
  folder: string,
  { config, tokenizer, weights = livelyWeights(config) }: PublishedOptions,
): Promise<Weights> {
  const json = (name: string, value: unknown): Promise<void> =>
    writeFile(join(folder, name), JSON.stringify(value, null, 2));
  const { torch_dtype: _, ...fields } = toHuggingFace(config);
  await json("config.json", { ...fields, torch_dtype: "bfloat16", initializer_range: 0.02 });
  await json("generation_config.json", { eos_token_id: [1, 2], do_sample: true });
  await json("tokenizer.json", tokenizer.tokenizer);
  await json("tokenizer_config.json", { ...tokenizer.config, chat_template: tokenizer.template });
  await writeSafetensors(
    join(folder, "model.safetensors"),
    parametersOf(config).map(({ name, shape }) => ({ name, shape, data: weights.get(name)! })),
  );
  return weights;
}

/** Every tensor of a file, in its order. */
export async function allTensors(path: string): Promise<Map<string, NamedTensor>> {
  await using file = await openSafetensors(path);
  const out = new Map<string, NamedTensor>();
  for (const [name, shape] of file.shapes) out.set(name, { name, shape, data: await file.read(name) });
  return out;
}
