/**
 * Which sizes are practical on this machine: `node bench/practical.ts`. One iteration of training (sampling 4 prompts ×
 * 8 replies, then one step on them) of models with random weights in published shapes, each in a process of its own.
 */
import { execFileSync } from "node:child_process";
import { availableParallelism, cpus } from "node:os";
import type { ModelRequest } from "../src/engine/engine.ts";
import type { DecoderSize } from "../src/engine/local/config.ts";
import { localEngine } from "../src/engine/local/index.ts";
import { batchOf, nll, rule } from "./imitation.ts";
import { firstWord, samplePrompts, vocabularyOf } from "./workload.ts";

interface Shape {
  readonly size: DecoderSize;
  readonly vocabulary: number;
}

const shape = (
  [width, layers, heads, kvHeads, feedForward]: readonly [number, number, number, number, number],
  vocabulary: number,
): Shape => ({ size: { width, layers, heads, kvHeads, feedForward }, vocabulary });

const shapes: Readonly<Record<string, Shape>> = {
  "0.5 M": shape([128, 2, 2, 2, 384], 1024),
  "3.5 M": shape([256, 4, 4, 4, 688], 512),
  "25 M": shape([512, 8, 8, 8, 1280], 2048),
  "135 M (SmolLM2)": shape([576, 30, 9, 3, 1536], 49_152),
  "494 M (Qwen2.5)": shape([896, 24, 14, 2, 4864], 151_936),
};

const [prompts, replies, promptTokens, replyTokens] = [4, 8, 128, 64];

interface Measured {
  readonly parameters: number;
  readonly sampleSeconds: number;
  readonly trainSeconds: number;
  readonly peak: number;
}

/** Second of two iterations: the first compiles. */
async function measure(name: string, lora: boolean): Promise<Measured> {
  const { size, vocabulary } = shapes[name]!;
  const engine = localEngine({ size, ...(lora ? { lora: { rank: 16 } } : {}) });
  const request: ModelRequest = {
    id: "policy",
    seed: 1,
    vocabulary: vocabularyOf(vocabulary),
    contextTokens: 256,
  };
  const model = await engine.create(request);
  let [sampleSeconds, trainSeconds] = [0, 0];
  const ids = samplePrompts(vocabulary, prompts, replies, promptTokens);
  for (let i = 0; i < 2; i++) {
    let began = performance.now();
    const asked = ids.map((prompt, r) => ({
      prompt: Int32Array.from(prompt),
      maxTokens: replyTokens,
      seed: 1000 * i + r,
    }));
    const samples = await model.sample(asked);
    sampleSeconds = (performance.now() - began) / 1000;
    began = performance.now();
    // a reply that ended early is filled up, so that every size does the same work
    const rows = samples.map(({ action }, r) => ({
      tokens: [...ids[r]!, ...action, ...new Array(replyTokens - action.length).fill(firstWord)],
      from: promptTokens,
      group: `${Math.floor(r / replies)}`,
    }));
    const batch = batchOf(rows);
    await model.accumulate(batch, nll, rows.length * replyTokens);
    await model.step(rule);
    trainSeconds = (performance.now() - began) / 1000;
  }
  await engine.dispose();
  const peak = process.resourceUsage().maxRSS * 1024;
  return { parameters: model.parameters ?? Number.NaN, sampleSeconds, trainSeconds, peak };
}

const [one, trained] = process.argv.slice(2);
if (one !== undefined) {
  console.log(JSON.stringify(await measure(one, trained === "lora")));
} else {
  console.log(`${cpus()[0]!.model.trim()}, ${availableParallelism()} cores, float32`);
  console.log("| model | trained | sampling | training | an iteration | memory |");
  console.log("| --- | --- | --- | --- | --- | --- |");
  for (const name of Object.keys(shapes)) {
    for (const trained of ["all weights", "lora"]) {
      const out = execFileSync(process.execPath, [import.meta.filename, name, trained], { encoding: "utf8" });
      const m = JSON.parse(out) as Measured;
      const sampled = prompts * replies * replyTokens;
      const read = prompts * replies * (promptTokens + replyTokens);
      const rate = (tokens: number, seconds: number): string =>
        `${Math.round(tokens / seconds).toLocaleString("en")} tokens/s`;
      const cells = [
        name,
        trained === "lora" ? `LoRA, rank 16 (${(m.parameters / 1e6).toFixed(1)} M)` : trained,
        rate(sampled, m.sampleSeconds),
        rate(read, m.trainSeconds),
        `${(m.sampleSeconds + m.trainSeconds).toPrecision(2)} s`,
        `${(m.peak / 2 ** 30).toPrecision(2)} GiB`,
      ];
      console.log(`| ${cells.join(" | ")} |`);
    }
  }
}
