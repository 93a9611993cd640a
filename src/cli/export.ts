/** `whetstone export`: trained weights as other tools take them. */
import { mkdir, readdir } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { Option } from "commander";
import { WhetstoneError } from "../core/errors.ts";
import { addCommand, type Io } from "./output.ts";
import { storeOption } from "./runs.ts";
import { findWeights } from "./weights.ts";

interface ExportOptions {
  readonly to: "peft" | "safetensors";
  readonly out: string;
  readonly base?: string;
  readonly type: "F32" | "BF16";
  readonly store: string;
}

export function addExport(program: Command, io: Io): void {
  addCommand(program, "export", "Write a run's weights as other tools take them.", [
    "whetstone export facts-grpo-1 --to safetensors --out exported",
    "whetstone export runs/support/best --to peft --base Qwen/Qwen2.5-0.5B-Instruct --out adapter",
  ])
    .argument("<run-or-checkpoint>", "a run's id or folder, or the folder of a checkpoint")
    .addOption(
      new Option("--to <form>", "a PEFT adapter, or a Hugging Face folder with the adapter merged in")
        .choices(["peft", "safetensors"])
        .makeOptionMandatory(),
    )
    .requiredOption("--out <folder>", "a folder that is empty or not there yet")
    .option("--base <name>", "what the adapter's config names as its model (default: where the run began)")
    .addOption(
      new Option("--type <type>", "of the numbers of merged weights").choices(["F32", "BF16"]).default("F32"),
    )
    .option(...storeOption)
    .action(async (name: string, { to, out, base, type, store }: ExportOptions) => {
      const { weights, begun } = await findWeights("export", name, store);
      await requireEmpty(out);
      const { exportAdapter, exportWeights } = await import("../engine/local/index.ts");
      if (to === "peft") await exportAdapter(weights, out, base ?? begun?.stated.model ?? "");
      else await exportWeights(weights, out, type);
      io.record({ type: "export", to, out: resolve(out), from: weights });
      io.say(`Written: ${out}`);
    });
}

/** Makes the folder. Other files beside an export would be taken for parts of it. */
async function requireEmpty(out: string): Promise<void> {
  await mkdir(out, { recursive: true });
  if ((await readdir(out)).length === 0) return;
  throw new WhetstoneError("folder.unwritable", {
    where: "--out",
    got: `${out}, which holds files`,
    expected: "a folder that is empty or not there yet",
    mend: "Choose another, or empty it.",
  });
}
