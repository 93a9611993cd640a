/** Files that others wrote, or a disk damaged: what is made of each kind, and who reads it. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkConfig } from "../../src/cli/options.ts";
import { readRunRecord } from "../../src/cli/runRecord.ts";
import { artefactVersion } from "../../src/core/artefact.ts";
import type { Random } from "../../src/core/random.ts";
import { readModel } from "../../src/engine/local/checkpoint.ts";
import { fromHuggingFace } from "../../src/engine/local/huggingFaceConfig.ts";
import { readPeft } from "../../src/engine/local/peft.ts";
import { openPublished } from "../../src/engine/local/published.ts";
import { startReader } from "../../src/engine/local/reader.ts";
import { openSafetensors } from "../../src/engine/local/safetensors.ts";
import { readCheckpoint } from "../../src/engine/tabular/checkpoint.ts";
import { type ImportFormat, importers, importFile } from "../../src/exchange/import/importFile.ts";
import { readArtefactFolder, writeArtefactFolder } from "../../src/store/artefactFolder.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { openRunStore } from "../../src/store/runStore.ts";
import { openJournal } from "../../src/train/journal.ts";
import { artefactFiles } from "./endpoints.ts";
import { units } from "./heavy.ts";
import { bytes, damaged, deep, large, mutated, noise, oddJson, oddTexts, pick, randomText } from "./odd.ts";

export interface FileKind {
  /** Writes files into an empty folder, something wrong with one of them. */
  make(folder: string, random: Random): void | Promise<void>;
  /** Reads them as the program does. @throws WhetstoneError where they cannot be. */
  read(folder: string): Promise<void>;
}

const fixtures = join(import.meta.dirname, "..", "..", "test/engine/local/fixtures");
const published = ["smollm", "llama3", "qwen3", "smollm3", "yarn", "llama"] as const;

/** Something is wrong with the file, whatever it was. */
function spoilt(text: Uint8Array, random: Random, isJson: boolean): Uint8Array {
  const asText = (): string => Buffer.from(text).toString("utf8");
  switch (random.below(isJson ? 9 : 4)) {
    case 0:
      return damaged(text, random);
    case 1:
      return text.subarray(0, random.below(text.length + 1));
    case 2:
      return noise(random, random.below(200));
    case 3:
      return Buffer.concat([text, noise(random, 1 + random.below(50))]);
    case 4:
      return bytes(oddJson(random));
    case 5:
      return bytes(deep(random));
    case 6:
      return bytes(mutated(asText(), random, large));
    case 7:
      return bytes(
        mutated(asText(), random, () => pick(["1e9", "1000000000", "-1", "0", "4294967297"], random)),
      );
    default:
      return bytes(mutated(asText(), random));
  }
}

function spoil(folder: string, random: Random, only?: (name: string) => boolean): void {
  const names = readdirSync(folder).filter((name) => only?.(name) ?? true);
  const name = pick(names, random);
  const file = join(folder, name);
  writeFileSync(file, spoilt(readFileSync(file), random, name.endsWith(".json")));
}

const conversation = [
  { role: "system", content: "be brief" },
  { role: "user", content: `hello ${"a".repeat(40)}! ${"b ".repeat(40)}` },
] as const;

/** A model's folder as `serve --policy` reads it, and one conversation. */
async function useModel(folder: string): Promise<void> {
  const { tokenizer } = await readModel(folder);
  const reader = startReader(tokenizer, 5);
  try {
    await reader.read(conversation);
  } finally {
    reader.close();
  }
}

const model = (name: string): string => join(fixtures, name);
const modelFile = (only: (name: string) => boolean): FileKind => ({
  make(folder, random) {
    cpSync(model(pick(published, random)), folder, { recursive: true });
    spoil(folder, random, only);
  },
  read: useModel,
});

const expressions = [
  "(a+)+$",
  "(a|a)*!",
  "(?:a|aa)+$",
  "(.*a){20}",
  "[",
  "\\p{X}",
  "(?<n>a)\\k<n>",
  "a{1000}{1000}",
  "",
];
const fragments = [
  "{% for m in messages %}",
  "{% endfor %}",
  "{% for i in range(100000) %}",
  "{% if true %}",
  "{% endif %}",
  "{{ m.content }}",
  "{{ messages[0].content * 100000000 }}",
  "{{ range(10000000) | join('a') }}",
  "{% set x = 'a' * 1000 %}",
  "{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}",
  "{{ raise_exception('no') }}",
  "{{ __proto__ }}",
  "{{ constructor.constructor('return 1')() }}",
  "{# ",
  "{{ ",
  "%}",
  "<|im_end|>",
  "{{ messages | tojson }}",
  "{{ strftime_now('%Y') }}",
  "{% set ns = namespace(x=1) %}{% set ns.x = ns.x + 1 %}",
] as const;

const importLine: Readonly<Record<ImportFormat, object>> = {
  langfuse: {
    id: "o",
    traceId: "t",
    type: "GENERATION",
    startTime: "2026-01-01T00:00:00Z",
    input: [{ role: "user", content: "a" }],
    output: "b",
  },
  langsmith: {
    id: "r",
    run_type: "llm",
    trace_id: "t",
    inputs: { messages: [{ role: "user", content: "a" }] },
    outputs: { choices: [{ message: { role: "assistant", content: "b" } }] },
    start_time: "2026-01-01T00:00:00Z",
  },
  minari: { id: "e", observations: ["a", "b"], actions: ["c"], rewards: [1], terminations: [true] },
  openai: {
    messages: [
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
    ],
  },
  trl: { prompt: "a", chosen: "b", rejected: "c" },
  verifiers: {
    id: "v",
    nodes: [
      { parent: null, message: { role: "user", content: "a" }, sampled: false },
      { parent: 0, message: { role: "assistant", content: "b" }, sampled: true },
    ],
  },
};
const formats = Object.keys(importers) as ImportFormat[];

const nothing = { sessions: [], users: [], responses: [], signals: [] };
const origins = { by: "person", from: nothing, trajectories: [] };
const artefact = artefactVersion({
  artefact: {
    kind: "experience",
    entries: [{ id: "a", kind: "strategy", when: "x", text: "y", score: 1, shown: 2, origins }],
  },
  name: "a",
  parents: [],
  why: "because",
  origins,
  created: 1,
});

const run = {
  env: "facts",
  method: "grpo",
  engine: "local",
  seed: 1,
  iterations: 3,
  contextTokens: 100,
  warmStart: null,
  config: { settings: { learningRate: 1e-3 }, size: { width: 8 }, lora: { rank: 2 }, modules: { env: "x" } },
};

export const fileKinds: Readonly<Record<string, FileKind>> = {
  "config.json": modelFile((name) => name === "config.json"),
  "tokenizer.json": modelFile((name) => /^tokenizer/.test(name)),
  "expressions of a tokenizer": {
    make(folder, random) {
      cpSync(model("smollm"), folder, { recursive: true });
      const file = join(folder, "tokenizer.json");
      const tokenizer = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
      const Regex = pick(expressions, random);
      const pattern = { Regex };
      const split = { type: "Split", pattern, behavior: "Isolated", invert: false };
      const replace = { type: "Replace", pattern, content: pick(["", "b", "aa"], random) };
      const where = pick(["pre_tokenizer", "normalizer", "decoder"] as const, random);
      tokenizer[where] = where === "pre_tokenizer" ? split : replace;
      writeFileSync(file, JSON.stringify(tokenizer));
    },
    read: useModel,
  },
  "chat templates": {
    make(folder, random) {
      cpSync(model(pick(["llama", "smollm3", "qwen3"], random)), folder, { recursive: true });
      const file = join(folder, "chat_template.jinja");
      const made = Array.from({ length: 1 + random.below(8) }, () => pick(fragments, random)).join("");
      const text = random.below(3) ? made : Buffer.from(damaged(readFileSync(file), random)).toString("utf8");
      writeFileSync(file, random.below(4) ? text : text + randomText(random));
    },
    read: useModel,
  },
  safetensors: {
    ...modelFile((name) => /safetensors/.test(name) && !/^expected/.test(name)),
    async read(folder) {
      for (const name of readdirSync(folder).filter((one) => one.endsWith(".safetensors"))) {
        await using file = await openSafetensors(join(folder, name));
        for (const tensor of file.shapes.keys()) await file.read(tensor);
      }
      await readModel(folder);
    },
  },
  "headers of safetensors": {
    make(folder, random) {
      const header = mutated(
        JSON.stringify({
          a: { dtype: "F32", shape: [2, 2], data_offsets: [0, 16] },
          __metadata__: { x: "y" },
        }),
        random,
        (own) =>
          pick([() => oddJson(own, 2), () => large(own), () => "1e300", () => "9007199254740992"], own)(),
      );
      const text = bytes(header);
      const length = new DataView(new ArrayBuffer(8));
      const stated = random.below(4) ? BigInt(text.length) : BigInt(random.below(2 ** 31)) ** 2n;
      length.setBigUint64(0, BigInt.asUintN(64, stated), true);
      writeFileSync(
        join(folder, "m.safetensors"),
        Buffer.concat([new Uint8Array(length.buffer), text, new Uint8Array(16)]),
      );
    },
    async read(folder) {
      await using file = await openSafetensors(join(folder, "m.safetensors"));
      for (const tensor of file.shapes.keys()) await file.read(tensor);
    },
  },
  "GGUF and other folders": {
    make(folder, random) {
      const name = pick(["m.gguf", "m.GGUF", "model.bin", "config.json", "pytorch_model.bin", "x"], random);
      if (random.below(5) === 0) mkdirSync(join(folder, name));
      else writeFileSync(join(folder, name), Buffer.concat([bytes("GGUF"), noise(random, 50)]));
    },
    read: async (folder) => void (await openPublished({ from: pickOne(folder) }, 10)),
  },
  adapters: {
    make(folder, random) {
      cpSync(join(fixtures, "adapters", pick(["llama", "qwen2", "qwen3"], random)), folder, {
        recursive: true,
      });
      spoil(folder, random, (name) => /^adapter/.test(name));
    },
    async read(folder) {
      const of = readFileSync(join(fixtures, "llama", "config.json"), "utf8");
      await readPeft(folder, fromHuggingFace(JSON.parse(of), "config.json"));
    },
  },
  "lines that are imported": {
    make(folder, random) {
      const format = pick(formats, random);
      const line = JSON.stringify(importLine[format]);
      const text = Array.from({ length: 1 + random.below(4) }, () =>
        Buffer.from(spoilt(bytes(line), random, true)).toString("latin1"),
      ).join("\n");
      writeFileSync(join(folder, format), random.below(5) ? text : `${pick(oddTexts, random)}\n${text}`);
    },
    async read(folder) {
      const [format] = readdirSync(folder) as ImportFormat[];
      await importFile(undefined, join(folder, format!), { from: format!, dryRun: true, now: 1 });
    },
  },
  "CSV that is imported": {
    make(folder, random) {
      const cell = (): string => pick([...oddTexts, '"', '""', "a,b", "1", randomText(random)], random);
      const rows = Array.from({ length: 1 + random.below(6) }, () =>
        Array.from({ length: 1 + random.below(4) }, cell).join(","),
      );
      const header = pick(["prompt,completion", "id,traceId,value", "a", ""], random);
      writeFileSync(join(folder, pick(formats, random)), [header, ...rows].join("\n"));
    },
    async read(folder) {
      const [format] = readdirSync(folder) as ImportFormat[];
      await importFile(undefined, join(folder, format!), { from: format!, dryRun: true, now: 1 });
    },
  },
  stores: {
    async make(folder, random) {
      const file = join(folder, "s.sqlite");
      const store = await openRunStore(file);
      const { env, method, engine, seed } = run;
      await store.startRun({ id: "r", name: "r", env, method, engine, seed, folder: "r", config: {} });
      await store.saveIteration("r", 0, { metrics: { a: 1 }, trajectories: [] });
      await store.close();
      const text = readFileSync(file);
      const times = 1 + random.below(40);
      let spoiltText: Uint8Array = text;
      for (let k = 0; k < times; k++) spoiltText = damaged(spoiltText, random);
      writeFileSync(file, random.below(3) ? spoiltText : spoilt(text, random, false));
    },
    async read(folder) {
      const file = join(folder, "s.sqlite");
      const store = await openRunStore(file);
      try {
        for (const { id } of await store.runs()) {
          await store.metrics(id);
          await store.searchTrajectories(id, { order: "newest", offset: 0, limit: 5 });
        }
      } finally {
        await store.close();
      }
      const production = await openTrafficStore(file);
      try {
        for await (const _ of production.responses());
        for await (const _ of production.signals());
        await production.versions();
      } finally {
        await production.close();
      }
    },
  },
  "tables of a tabular model": {
    make(folder, random) {
      const saved = {
        format: 1,
        words: ["a", "b", "c"],
        context: null,
        contextTokens: 10,
        steps: 1,
        parts: { logits: { contexts: ["x"], arrays: { weights: [1, 2, 3, 4] } } },
      };
      writeFileSync(join(folder, "tabular.json"), spoilt(bytes(JSON.stringify(saved)), random, true));
    },
    read: async (folder) => void (await readCheckpoint(folder)),
  },
  "run.json and limits.json": {
    make(folder, random) {
      writeFileSync(join(folder, "run.json"), JSON.stringify(run));
      writeFileSync(join(folder, "limits.json"), JSON.stringify({ budget: "5m", spend: 1, cache: "c" }));
      spoil(folder, random);
    },
    read: async (folder) => void readRunRecord(folder),
  },
  journals: {
    make(folder, random) {
      const line = JSON.stringify({ iteration: 1, episode: "e", trajectories: [] });
      writeFileSync(join(folder, "journal"), spoilt(bytes(`${line}\n${line}\n`), random, true));
    },
    async read(folder) {
      const journal = await openJournal(join(folder, "journal"), 1);
      await journal.forget(5);
      await journal.close();
    },
  },
  configs: {
    make(folder, random) {
      const config = {
        env: "facts",
        method: "grpo",
        engine: "local",
        seed: 1,
        iterations: 2,
        size: { width: 8, layers: 1, heads: 1, kvHeads: 1, feedForward: 8 },
      };
      const text = random.below(3) ? mutated(JSON.stringify(config), random) : oddJson(random);
      writeFileSync(join(folder, "c.json"), text);
    },
    async read(folder) {
      let value: unknown;
      try {
        value = JSON.parse(readFileSync(join(folder, "c.json"), "utf8"));
      } catch {
        return; // a module that does not load says so itself
      }
      checkConfig(value, "c.json");
    },
  },
  artefacts: {
    async make(folder, random) {
      if (random.below(2)) await writeArtefactFolder(folder, artefact);
      else {
        const [, files] = pick(Object.entries(artefactFiles), random);
        for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
      }
      const file = pick(readdirSync(folder), random);
      const path = join(folder, file);
      const isJson = file.endsWith(".json");
      const long = pick(units, random).repeat(1 + random.below(100_000));
      writeFileSync(path, random.below(4) || isJson ? spoilt(readFileSync(path), random, isJson) : long);
    },
    read: async (folder) => void (await readArtefactFolder(folder)),
  },
};

/** The one thing in a folder, or the folder itself. */
function pickOne(folder: string): string {
  const [only] = readdirSync(folder);
  return only !== undefined && only.length % 2 === 0 ? join(folder, only) : folder;
}
