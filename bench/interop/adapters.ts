/** A trained adapter as we export it, in the hands of PEFT, Transformers and llama.cpp: each must say what we say. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { randomStream } from "../../src/core/random.ts";
import { localEngine } from "../../src/engine/index.ts";
import { exportAdapter, exportWeights } from "../../src/engine/local/index.ts";
import { openSafetensors } from "../../src/engine/local/safetensors.ts";
import { codewords } from "../../src/env/index.ts";
import { sft } from "../../src/method/index.ts";
import { runIn } from "../../test/train/world.ts";
import { llamaPeer, pythonPeer } from "../contestants.ts";
import { apart, type Logps, logpsOf } from "./agree.ts";

const around = { threads: 1, verbose: false };
const contextTokens = 64;
/** Distances in nats that arithmetic in another order explains, and keys and values that are rounded to 16 bits. */
const [close, rounded] = [1e-4, 2e-2];

interface Answers {
  readonly logp: Logps;
}

/**
 * Trains an adapter, exports it, and compares log-probabilities of random tokens.
 * @param root a folder that is empty. @param scripts a folder with llama.cpp's convert_lora_to_gguf.py.
 */
export async function adapters(
  root: string,
  scripts: string | undefined,
  say: (what: string, passed: boolean) => void,
): Promise<void> {
  const [base, peft, merged] = ["base", "peft", "merged"].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [base, peft, merged]) mkdirSync(folder);
  const fresh = localEngine({ tokenizer: "bytes", threads: 1 });
  await (await fresh.create({ id: "policy", seed: 1, lexicon: [], contextTokens })).save(base);
  await fresh.dispose();

  const engine = localEngine({ from: base, lora: { rank: 8, alpha: 12 }, threads: 1 });
  const final = join(root, "run", "final");
  const environment = codewords();
  const method = sft.build({ learningRate: 0.003, tasks: 8 });
  const evaluation = { tasks: 2, every: 40, validationTasks: 2 };
  await runIn(root, {
    environment,
    engine,
    method,
    iterations: 20,
    contextTokens,
    warmStart: false,
    evaluation,
  });
  const model = await engine.open("policy", final);
  const random = randomStream(1);
  const rows = Array.from({ length: 16 }, () =>
    Array.from({ length: 48 }, () => random.below(model.codec.vocabulary)),
  );
  const ours = await logpsOf(model, rows);
  await engine.dispose();
  await exportAdapter(final, peft, base);
  await exportWeights(final, merged);

  const agreed = (what: string, theirs: Logps, within = close): void => {
    const distance = apart(ours, theirs);
    say(
      `${what}: ${distance.toExponential(1)} nats from ours at most, over ${rows.length} × 47 tokens`,
      distance <= within,
    );
  };
  const python = pythonPeer("PEFT", "sample.py", around);
  const llama = llamaPeer(around);
  try {
    const reads = async (peer: typeof python, how: Readonly<Record<string, unknown>>): Promise<Logps> => {
      await peer.ask({ run: "open", ...how });
      return (await peer.ask<Answers>({ run: "logp", rows })).logp;
    };
    const bare = apart(ours, await reads(python, { folder: base }));
    say(
      `the base without the adapter: ${bare.toFixed(1)} nats from ours, so that the adapter counts`,
      bare > 0.5,
    );
    agreed("the adapter, loaded by PEFT", await reads(python, { folder: base, adapter: peft }));
    agreed("merged weights, loaded by Transformers", await reads(python, { folder: merged }));

    const gguf = (name: string): string => join(root, `${name}.gguf`);
    const small = { tokens: contextTokens, use: 1 };
    await python.ask({ run: "gguf", folder: merged, file: gguf("merged") });
    const byLlama = async (what: string, files: Readonly<Record<string, string>>): Promise<void> => {
      agreed(what, await reads(llama, { ...files, ...small }), rounded);
      agreed(
        "the same with keys and values in 32 bits",
        await reads(llama, { ...files, ...small, exact: true }),
      );
    };
    await byLlama("merged weights as GGUF, loaded by llama.cpp", { file: gguf("merged") });
    if (scripts === undefined || !existsSync(join(scripts, "convert_lora_to_gguf.py"))) {
      say(
        "the adapter as GGUF: WHETSTONE_LLAMA_SCRIPTS names no folder with llama.cpp's convert_lora_to_gguf.py",
        false,
      );
    } else {
      await python.ask({ run: "gguf", folder: base, file: gguf("base") });
      await python.ask({ run: "gguf_adapter", scripts, folder: base, adapter: peft, file: gguf("adapter") });
      await byLlama("the adapter, converted by llama.cpp's script and loaded by llama.cpp", {
        file: gguf("base"),
        adapter: gguf("adapter"),
      });
    }
  } finally {
    python.close();
    llama.close();
  }
  const broken = await vllmRules(peft);
  say(
    `vLLM is not run here; rules that its source (lora/peft_helper.py, lora/utils.py) holds adapters to: ${broken.length === 0 ? "all kept" : broken.join(", ")}`,
    broken.length === 0,
  );
}

/** What vLLM's source asks of an adapter's files that these do not keep. */
async function vllmRules(folder: string): Promise<string[]> {
  const config: Readonly<Record<string, unknown>> = JSON.parse(
    readFileSync(join(folder, "adapter_config.json"), "utf8"),
  );
  await using file = await openSafetensors(join(folder, "adapter_model.safetensors"));
  const rank = Number(config.r);
  const rules = {
    "r, lora_alpha and target_modules are stated": ["r", "lora_alpha", "target_modules"].every(
      (key) => key in config,
    ),
    "no module is saved whole": config.modules_to_save === null,
    "no DoRA": config.use_dora === false,
    "no biases": config.bias === "none",
    "a rank of at most 16, its default limit": rank <= 16,
    "names it reads": [...file.shapes.keys()].every((name) =>
      /^base_model\.model\..+\.lora_[AB]\.weight$/.test(name),
    ),
  };
  return Object.entries(rules).flatMap(([rule, kept]) => (kept ? [] : [rule]));
}
