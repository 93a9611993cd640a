/** A trained adapter as we export it, in the hands of PEFT, Transformers, llama.cpp and vLLM: each must say what we say. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { randomStream } from "../../src/core/random.ts";
import { exportAdapter, exportWeights } from "../../src/engine/local/export.ts";
import { localEngine } from "../../src/engine/local/index.ts";
import { codewords } from "../../src/env/codewords.ts";
import { sft } from "../../src/methods/baseline/sft/method.ts";
import { runIn } from "../../test/train/world.ts";
import { type Contestant, llamaPeer, pythonPeer, vllmPeer } from "../contestants.ts";
import { apart, type Logps, logpsOf } from "./agree.ts";

const around = { threads: 1, verbose: false };
const contextTokens = 64;
/** Distances in nats that arithmetic in another order explains, and keys and values that are rounded to 16 bits. */
const [close, rounded] = [1e-4, 2e-2];

/** What is not among the peers' packages. */
export interface Elsewhere {
  /** A folder with llama.cpp's convert_lora_to_gguf.py. */
  readonly llamaScripts: string | undefined;
  /** A Python that has vLLM. */
  readonly vllmPython: string | undefined;
}

type Say = (what: string, passed: boolean) => void;
type Rows = readonly (readonly number[])[];

/** Folders, and what we say of random tokens: with the adapter, and of the model that it was trained on. */
interface Made {
  readonly base: string;
  readonly peft: string;
  readonly merged: string;
  readonly rows: Rows;
  readonly ours: Logps;
  readonly oursBefore: Logps;
  /** Ours of other tokens, with the adapter. */
  score(rows: Rows): Promise<Logps>;
  close(): Promise<void>;
}

/**
 * Trains an adapter, exports it, and compares log-probabilities.
 * @param root a folder that is empty.
 */
export async function adapters(
  root: string,
  { llamaScripts, vllmPython }: Elsewhere,
  say: Say,
): Promise<void> {
  const made = await trained(root);
  const agreed: Agreed = (what, mine, theirs, within = close) => {
    const distance = apart(mine, theirs);
    const over = `${mine.length} × ${mine[0]!.length} tokens`;
    say(`${what}: ${distance.toExponential(1)} nats from ours at most, over ${over}`, distance <= within);
  };
  try {
    const bare = apart(made.ours, made.oursBefore);
    say(
      `the base without the adapter: ${bare.toFixed(1)} nats from ours, so that the adapter counts`,
      bare > 0.5,
    );
    await inPythonAndLlama(root, made, llamaScripts, agreed, say);
    if (vllmPython === undefined) say("vLLM: WHETSTONE_VLLM_PYTHON names no Python that has it", false);
    else await inVllm(made, vllmPython, agreed);
  } finally {
    await made.close();
  }
}

type Agreed = (what: string, ours: Logps, theirs: Logps, within?: number) => void;

async function trained(root: string): Promise<Made> {
  const inside = (name: string): string => join(root, name);
  const [base, peft, merged] = [inside("base"), inside("peft"), inside("merged")];
  for (const folder of [base, peft, merged]) mkdirSync(folder);
  const fresh = localEngine({ tokenizer: "bytes", threads: 1 });
  const before = await fresh.create({ id: "policy", seed: 1, vocabulary: [], contextTokens });
  await before.save(base);
  const random = randomStream(1);
  const rows = Array.from({ length: 16 }, () =>
    Array.from({ length: 48 }, () => random.below(before.codec.vocabulary)),
  );
  const oursBefore = await logpsOf(before, rows);
  await fresh.dispose();

  const engine = localEngine({ from: base, lora: { rank: 8, alpha: 12 }, threads: 1 });
  await runIn(root, {
    environment: codewords(),
    engine,
    method: sft.build({ learningRate: 0.003, tasks: 8 }),
    iterations: 20,
    contextTokens,
    warmStart: false,
    evaluation: { tasks: 2, every: 40, validationTasks: 2 },
  });
  const final = join(root, "run", "final");
  const model = await engine.open("policy", final);
  await exportAdapter(final, peft, base);
  await exportWeights(final, merged);
  const score = (of: Rows): Promise<Logps> => logpsOf(model, of);
  return {
    base,
    peft,
    merged,
    rows,
    ours: await score(rows),
    oursBefore,
    score,
    close: () => engine.dispose(),
  };
}

async function inPythonAndLlama(
  root: string,
  { base, peft, merged, rows, ours }: Made,
  scripts: string | undefined,
  agreed: Agreed,
  say: Say,
): Promise<void> {
  const python = pythonPeer("PEFT", "sample.py", around);
  const llama = llamaPeer(around);
  const reads = async (peer: Contestant, how: Readonly<Record<string, unknown>>): Promise<Logps> => {
    await peer.ask({ run: "open", ...how });
    return (await peer.ask<{ readonly logp: Logps }>({ run: "logp", rows })).logp;
  };
  const byLlama = async (what: string, files: Readonly<Record<string, string>>): Promise<void> => {
    const small = { ...files, tokens: contextTokens, use: 1 };
    agreed(what, ours, await reads(llama, small), rounded);
    const exact = await reads(llama, { ...small, exact: true });
    agreed("the same with keys and values in 32 bits", ours, exact);
  };
  const gguf = (name: string): string => join(root, `${name}.gguf`);
  try {
    agreed("the adapter, loaded by PEFT", ours, await reads(python, { folder: base, adapter: peft }));
    agreed("merged weights, loaded by Transformers", ours, await reads(python, { folder: merged }));
    await python.ask({ run: "gguf", folder: merged, file: gguf("merged") });
    await byLlama("merged weights as GGUF, loaded by llama.cpp", { file: gguf("merged") });
    if (scripts === undefined || !existsSync(join(scripts, "convert_lora_to_gguf.py"))) {
      say(
        "the adapter as GGUF: WHETSTONE_LLAMA_SCRIPTS names no folder with llama.cpp's convert_lora_to_gguf.py",
        false,
      );
      return;
    }
    await python.ask({ run: "gguf", folder: base, file: gguf("base") });
    await python.ask({ run: "gguf_adapter", scripts, folder: base, adapter: peft, file: gguf("adapter") });
    await byLlama("the adapter, converted by llama.cpp's script and loaded by llama.cpp", {
      file: gguf("base"),
      adapter: gguf("adapter"),
    });
  } finally {
    python.close();
    llama.close();
  }
}

/** The adapter on its base by vLLM's own loader, with and without it, and what is drawn with it; then the merged weights. */
async function inVllm(
  { base, peft, merged, rows, ours, oursBefore, score }: Made,
  python: string,
  agreed: Agreed,
): Promise<void> {
  const inOne = async (
    how: Readonly<Record<string, unknown>>,
    work: (vllm: Contestant, name: string) => Promise<void>,
  ): Promise<void> => {
    const vllm = vllmPeer(python, around);
    try {
      const { versions } = await vllm.ask<{ readonly versions: { readonly vllm: string } }>({ run: "about" });
      await vllm.ask({ run: "open", tokens: contextTokens, ...how });
      await work(vllm, `vLLM ${versions.vllm}`);
    } finally {
      vllm.close();
    }
  };
  await inOne({ folder: base, adapters: true }, async (vllm, name) => {
    const bare = await vllm.ask<{ readonly logp: Logps }>({ run: "logp", rows });
    agreed(`the base, loaded by ${name}, against ours without the adapter`, oursBefore, bare.logp);
    const adapted = await vllm.ask<{ readonly logp: Logps }>({ run: "logp", rows, adapter: peft });
    agreed(`the adapter, loaded by ${name}`, ours, adapted.logp);
    const prompts = rows.map((row) => row.slice(0, 16));
    const drawn = await vllm.ask<{ readonly actions: Rows; readonly logp: Logps }>({
      run: "sample",
      prompts,
      maxTokens: 32,
      adapter: peft,
    });
    const whole = await score(prompts.map((prompt, i) => [...prompt, ...drawn.actions[i]!]));
    const said = whole.map((row) => row.slice(15));
    agreed(`what ${name} draws with the adapter, as it says itself`, said, drawn.logp);
  });
  await inOne({ folder: merged }, async (vllm, name) => {
    const { logp } = await vllm.ask<{ readonly logp: Logps }>({ run: "logp", rows });
    agreed(`merged weights, loaded by ${name}`, ours, logp);
  });
}
