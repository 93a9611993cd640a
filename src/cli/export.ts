/** `whetstone export`: trained weights, and what people taught in production, as other tools take them. */

import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import type { Command } from "commander";
import { Option } from "commander";
import { makeFolder, removeFolder } from "../common/files/files.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Dropped } from "../exchange/derived.ts";
import { exportFile } from "../exchange/export/exportFile.ts";
import { type ExportFormat, exportFormats } from "../exchange/export/formats.ts";
import {
  exportRun as exportTrajectories,
  type TrajectoryForm,
  trajectoryForms,
} from "../exchange/run/exportRun.ts";
import { timeOf } from "./durations.ts";
import { numberOption, statedNumber } from "./numbers.ts";
import { addCommand, duration, type Io, progressLine } from "./output.ts";
import { existingStore, requireRun } from "./runs.ts";
import { withWeights } from "./tinker.ts";
import { trafficStoreOption, withTrafficStore } from "./trafficStore.ts";
import { findWeights } from "./weights.ts";

const weightForms = ["peft", "safetensors", "gguf"] as const;
const valueTypes = ["F32", "BF16", "F16", "Q8_0"] as const;
type WeightForm = (typeof weightForms)[number];

interface ExportOptions {
  readonly to: WeightForm | ExportFormat | TrajectoryForm;
  readonly iteration?: string;
  readonly out: string;
  readonly since?: string;
  readonly channel?: string;
  readonly servedBy?: string;
  readonly minRating?: string;
  readonly base?: string;
  readonly type: (typeof valueTypes)[number];
  readonly store: string;
}

export function addExport(program: Command, io: Io): void {
  addCommand(
    program,
    "export",
    "Export a run's weights or trajectories, or training data from production, in the formats of other tools.",
    [
      "whetstone export facts-grpo-1 --to safetensors --out exported",
      "whetstone export runs/support --to gguf --type Q8_0 --out support.gguf",
      "whetstone export runs/support/best --to peft --base Qwen/Qwen2.5-0.5B-Instruct --out adapter",
      "whetstone export --to trl-preference --out pairs.jsonl",
      "whetstone export facts-grpo-1 --to verifiers --out traces.jsonl",
      "whetstone export facts-grpo-1 --to minari --iteration 79 --out episodes.jsonl",
      "whetstone export --to messages --min-rating 0.75 --since 30d --out liked.jsonl",
    ],
  )
    .argument(
      "[run-or-checkpoint]",
      "for weights: a run's id or folder, or the folder of a checkpoint; for trajectories: a run's id or folder",
    )
    .addOption(
      new Option(
        "--to <form>",
        "format; weights: a PEFT adapter (peft), merged weights in a Hugging Face folder (safetensors), or a GGUF file for llama.cpp, Ollama and LM Studio (gguf); trajectories of a run: messages, verifiers or minari; training data: messages or a TRL format",
      )
        .choices([
          ...new Set([...weightForms, ...Object.keys(trajectoryForms), ...Object.keys(exportFormats)]),
        ])
        .makeOptionMandatory(),
    )
    .requiredOption(
      "--out <path>",
      "for weights: an empty or new folder; for gguf, trajectories and data: a new file",
    )
    .option(
      "--base <name>",
      "base model to name in the adapter's config (default: the run's); for a run on a Tinker server: the folder of the base model",
    )
    .addOption(
      new Option("--type <type>", "number type of merged weights; F16 and Q8_0 (8 bits) only with gguf")
        .choices([...valueTypes])
        .default("F32"),
    )
    .option("--iteration <n>", "for trajectories: only those of this iteration, from 0")
    .option(
      "--since <when>",
      "for data: only responses served since then: a date, a time, or an age such as 30d",
    )
    .option("--channel <name>", "for data: only examples from feedback on this channel")
    .option("--served-by <version>", "for data: only conversations that this version answered")
    .option("--min-rating <n>", "for data: only conversations with at least this mean rating")
    .addOption(trafficStoreOption())
    .action(async (name: string | undefined, options: ExportOptions) => {
      const { to } = options;
      if (isWeights(to)) await exportRun(name, { ...options, to }, io);
      else if (isTrajectories(to) && (name !== undefined || !isData(to)))
        await exportPlayed(name, { ...options, to }, io);
      else if (isData(to)) await exportData(name, { ...options, to }, io);
    });
}

const isWeights = (to: ExportOptions["to"]): to is WeightForm => weightForms.some((form) => form === to);
const isTrajectories = (to: ExportOptions["to"]): to is TrajectoryForm => to in trajectoryForms;
const isData = (to: ExportOptions["to"]): to is ExportFormat => to in exportFormats;

const unnamed = (to: string, expected: string): WhetstoneError =>
  new WhetstoneError("name.unknown", {
    where: "export",
    got: `--to ${to} without a run`,
    expected,
    fix: "Name a run; whetstone runs lists them.",
  });

async function exportPlayed(
  name: string | undefined,
  { to, out, store: file, iteration }: ExportOptions & { readonly to: TrajectoryForm },
  io: Io,
): Promise<void> {
  if (name === undefined) throw unnamed(to, "a run");
  const store = await existingStore(file);
  try {
    const run = await requireRun(store, name);
    const line = progressLine(io, "Exporting, %");
    const filter = iteration === undefined ? {} : { iteration: statedNumber("--iteration", iteration) };
    const progress = (rows: number, of: number): void => line.at(Math.floor((100 * rows) / of), 100);
    const rows = await exportTrajectories(store, run.id, out, { to, filter, progress });
    line.close();
    io.record({ type: "export", to, out: resolve(out), rows });
    io.say(`Written: ${out}, ${rows} ${to === "verifiers" ? "episodes" : "trajectories"}`);
  } finally {
    await store.close();
  }
}

async function exportRun(
  name: string | undefined,
  { to, out, base, type, store }: ExportOptions & { readonly to: WeightForm },
  io: Io,
): Promise<void> {
  if (name === undefined) {
    throw unnamed(to, "a run or a checkpoint");
  }
  requireBase(base);
  if (to === "peft" && type !== "F32") throw noSuchType(type, "peft", "F32, in which adapters are written");
  const { weights, begun } = await findWeights("export", name, store);
  if (to === "gguf") {
    await requireNew(out);
    const { exportGguf } = await import("../engine/local/index.ts");
    const titled = basename(resolve(name)).replace(/\.gguf$/i, "");
    await withWeights(weights, begun?.engineOptions ?? {}, base, (from) =>
      exportGguf(from, out, type, titled),
    );
    io.record({ type: "export", to, out: resolve(out), from: weights });
    io.say(`Written: ${out}`);
    return;
  }
  const isNew = !existsSync(out);
  await requireEmpty(out);
  const { exportAdapter, exportWeights } = await import("../engine/local/index.ts");
  const stated = begun?.engineOptions ?? {};
  await withWeights(weights, stated, base, async (from) => {
    if (to === "peft") await exportAdapter(from, out, named(base) ?? stated.baseModel);
    else await exportWeights(from, out, folderType(type));
  }).catch(async (e: unknown) => {
    if (isNew) await removeFolder(out);
    throw e;
  });
  io.record({ type: "export", to, out: resolve(out), from: weights });
  io.say(`Written: ${out}`);
}

/** @throws WhetstoneError `option.range` for a base that no tool can load. */
function requireBase(base: string | undefined): void {
  if (base === undefined) return;
  const isPath = /^[./~]|^[A-Za-z]:[\\/]|\/.*\//.test(base);
  if (base.trim() !== "" && (!isPath || statSync(base, { throwIfNoEntry: false })?.isDirectory())) return;
  throw new WhetstoneError("option.range", {
    where: "--base",
    got: base.trim() === "" ? "nothing" : `${base}, which is no folder`,
    expected: "the folder of a model, or a model's name, such as Qwen/Qwen2.5-0.5B-Instruct",
    fix: "Name the base model, or leave --base out for the run's own.",
  });
}

/** What an adapter names as its base: a folder by its whole path, since PEFT looks for a relative one in the folder that it runs in. */
const named = (base: string | undefined): string | undefined =>
  base !== undefined && existsSync(base) ? resolve(base) : base;

async function exportData(
  name: string | undefined,
  { to, out, store, since, channel, servedBy, minRating }: ExportOptions & { readonly to: ExportFormat },
  io: Io,
): Promise<void> {
  if (name !== undefined) {
    throw new WhetstoneError("option.range", {
      where: "export",
      got: `"${name}" beside --to ${to}`,
      expected: "no run: training data comes from the traffic store",
      fix: "Leave the run out, and name the traffic store with --store.",
    });
  }
  const now = Date.now();
  const began = performance.now();
  let said = began;
  const done = await withTrafficStore(
    store,
    (production) =>
      exportFile(production, out, {
        to,
        now,
        filter: {
          ...(since === undefined ? {} : { from: timeOf("--since", since, now) }),
          ...(channel === undefined ? {} : { channel }),
          ...(servedBy === undefined ? {} : { version: servedBy }),
        },
        ...(minRating === undefined ? {} : { minRating: ratingOf(minRating) }),
        progress: (rows) => {
          if (performance.now() - said < 2000) return;
          said = performance.now();
          io.error(`Exporting: ${rows} rows after ${duration((said - began) / 1000)}`);
        },
      }),
    "there",
  );
  io.record({ type: "export", to, out: done.file, rows: done.rows, dropped: done.dropped });
  io.say(
    `Written: ${out}, ${done.rows} rows`,
    ...Object.entries(done.dropped).map(([why, n]) => `Left out: ${n} × ${whys[why as keyof typeof whys]}`),
    ...(done.rows === 0 ? ["No data has this format; docs/data.md says what each format is made from."] : []),
  );
}

/** Why feedback gave no training example, for people. */
const whys = {
  same: "a correction that changes only blanks, case or punctuation",
  duplicate: "a duplicate of an earlier example",
  overruled: "the user changed this feedback later",
  rejected: "a reviewer rejected it",
  noReply: "feedback that is not about a single known reply",
  otherPrompt: "a comparison of replies to different prompts",
} as const satisfies Readonly<Record<Dropped["why"], string>>;

const ratingOf = (text: string): number =>
  numberOption("--min-rating", text, {
    isValid: Number.isFinite,
    expected: "a number, such as 0.75: thumbs and stars count from 0 to 1",
  });

/** @throws WhetstoneError `option.range`: tools that read such folders compute in these types. */
function folderType(type: ExportOptions["type"]): "F32" | "BF16" {
  if (type === "F32" || type === "BF16") return type;
  throw noSuchType(type, "safetensors", "F32 or BF16");
}

const noSuchType = (type: string, to: WeightForm, expected: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "--type",
    got: `${type} with --to ${to}`,
    expected,
    fix: "Write a GGUF file with --to gguf, or leave --type out.",
  });

async function requireNew(file: string): Promise<void> {
  await makeFolder(dirname(resolve(file)));
  if (!existsSync(file)) return;
  throw new WhetstoneError("folder.unwritable", {
    where: "--out",
    got: `${file}, which already exists`,
    expected: "a new file",
    fix: "Choose another name, or delete it.",
  });
}

/** Makes the folder. Other files beside an export would be taken for parts of it. */
async function requireEmpty(out: string): Promise<void> {
  await makeFolder(out);
  if ((await readdir(out)).length === 0) return;
  throw new WhetstoneError("folder.unwritable", {
    where: "--out",
    got: `${out}, which contains files`,
    expected: "an empty or new folder",
    fix: "Choose another, or empty it.",
  });
}
