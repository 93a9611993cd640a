/** A trained adapter as GGUF files, in the hands of llama.cpp: what it replies, most probable token by token, and what we do. */
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { makeEngine, requireEnvironment } from "../../src/cli/catalogue.ts";
import { findWeights } from "../../src/cli/weights.ts";
import type { Codec, Model } from "../../src/core/model.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { type PackedType, packedTypes } from "../../src/engine/local/export.ts";
import { localEngine } from "../../src/engine/local/index.ts";
import type { Environment, Player } from "../../src/env/environment.ts";
import { evaluate } from "../../src/train/evaluate.ts";
import { limitConcurrency } from "../../src/train/limit.ts";
import { type Contestant, llamaPeer } from "../contestants.ts";
import { logpsOf } from "../interop/agree.ts";
import { progress } from "../report.ts";
import { whetstone } from "./runs.ts";

export interface ExportedOptions {
  readonly run: string;
  readonly env: string;
  readonly tasks: string;
  readonly threads: string;
}

/** Replies to the tasks, most probable token by token, without the end token. */
interface Replies {
  readonly prompts: readonly (readonly number[])[];
  readonly replies: readonly (readonly number[])[];
  readonly success: number;
}

interface Answering {
  readonly environment: Environment;
  readonly tasks: number;
}

async function played(agent: Model | Player, { environment, tasks }: Answering): Promise<Replies> {
  const { result, trajectories } = await evaluate({
    environment,
    agent,
    split: "test",
    mode: "greedy",
    tasks,
    random: randomStream(1),
    limit: limitConcurrency(tasks),
  });
  const tokens = trajectories.map(({ turns }) => turns[0]?.tokens);
  const ends = "codec" in agent ? agent.codec.endId : -1;
  return {
    prompts: tokens.map((of) => [...(of?.prompt ?? [])]),
    replies: tokens.map((of) => untilEnd([...(of?.action ?? [])], ends)),
    success: result.success.mean,
  };
}

function untilEnd(tokens: readonly number[], end: number): readonly number[] {
  const at = tokens.indexOf(end);
  return at < 0 ? tokens : tokens.slice(0, at);
}

const inPieces = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));

/** llama.cpp's replies to these prompts. */
async function theirs(
  llama: Contestant,
  { prompts }: Replies,
  codec: Codec,
  answering: Answering,
): Promise<Replies> {
  const replies: (readonly number[])[] = [];
  const { actionTokens: maxTokens } = answering.environment.limits;
  for (const some of inPieces(prompts, 16)) {
    const request = { run: "sample", prompts: some, maxTokens, temperature: 0 };
    const { actions } = await llama.ask<{ readonly actions: readonly (readonly number[])[] }>(request);
    replies.push(...actions.map((tokens) => untilEnd(tokens, codec.endId)));
  }
  const texts = new Map(
    tasksOf(answering).map(({ id }, i) => [id, codec.decode(Int32Array.from(replies[i]!))] as const),
  );
  const { success } = await played(({ id }) => texts.get(id)!, answering);
  return { prompts, replies, success };
}

const tasksOf = ({ environment, tasks }: Answering): readonly Task[] =>
  environment.tasks("test").slice(0, tasks);

const equal = (a: Replies, b: Replies): number =>
  a.replies.filter((reply, i) => isDeepStrictEqual(reply, b.replies[i])).length;

/** How much less probable, in nats, a model finds the other's token where two replies part; the largest of all replies. */
async function largestLead(model: Model, own: Replies, other: Replies): Promise<number> {
  const rows = own.replies.flatMap((reply, i) => {
    const there = other.replies[i]!;
    const ended = (tokens: readonly number[], at: number): number => tokens[at] ?? model.codec.endId;
    const at = Array.from({ length: Math.max(reply.length, there.length) }, (_, k) => k).find(
      (k) => ended(reply, k) !== ended(there, k),
    );
    if (at === undefined) return [];
    const before = [...own.prompts[i]!, ...reply.slice(0, at)];
    return [
      [...before, ended(reply, at)],
      [...before, ended(there, at)],
    ];
  });
  if (rows.length === 0) return 0;
  const last = (await logpsOf(model, rows)).map((row) => row.at(-1)!);
  return Math.max(...last.flatMap((logp, i) => (i % 2 === 0 ? [logp - last[i + 1]!] : [])));
}

async function withModel<T>(
  engine: Engine,
  open: () => Promise<Model>,
  use: (model: Model) => Promise<T>,
): Promise<T> {
  try {
    return await use(await open());
  } finally {
    await engine.dispose();
  }
}

/** One exported file. */
async function compared(
  file: string,
  type: PackedType,
  trained: Replies,
  answering: Answering,
  threads: number,
): Promise<{ readonly cells: readonly string[]; readonly lead: number; readonly alike: boolean }> {
  const llama = llamaPeer({ threads, verbose: false });
  const engine = localEngine({ from: file, threads });
  const open = () => engine.create({ id: "policy", seed: 1, vocabulary: [], contextTokens: 1024 });
  try {
    return await withModel(engine, open, async (model) => {
      const ours = await played(model, answering);
      await llama.ask({ run: "open", file, tokens: 16 * 256, use: threads, exact: true });
      const questions = tasksOf(answering).map(({ prompt }) =>
        prompt.map(({ content }) => content).join("\n"),
      );
      const { tokens } = await llama.ask<{ tokens: number[][] }>({ run: "read", questions });
      const alike = isDeepStrictEqual(tokens, ours.prompts);
      const found = await theirs(llama, ours, model.codec, answering);
      const lead = await largestLead(model, ours, found);
      const of = (n: number): string => `${n} of ${trained.replies.length}`;
      const share = (x: number): string => `${(100 * x).toFixed(1)} %`;
      progress(`${type}: ${of(equal(found, ours))} alike`);
      return {
        cells: [
          of(equal(found, trained)),
          of(equal(found, ours)),
          lead === 0 ? "none" : lead.toPrecision(2),
          share(ours.success),
          share(found.success),
          alike ? "yes" : "**no**",
        ],
        lead,
        alike,
      };
    });
  } finally {
    llama.close();
  }
}

/** Distances in nats at which two replies may part: what each type's arithmetic rounds away. llama.cpp multiplies Q8_0 in 8 bits. */
const rounding: Readonly<Record<PackedType, number>> = { F32: 1e-3, F16: 0.05, BF16: 0.1, Q8_0: 0.2 };

/** @param folder an empty one, for the files. */
export async function exportSection(
  folder: string,
  { run, env, tasks, threads }: ExportedOptions,
  machine: string,
): Promise<{ section: string; passed: boolean }> {
  const answering = { environment: await requireEnvironment("--env", env), tasks: Number(tasks) };
  const { weights, begun } = await findWeights("--run", run, "");
  const engine = await makeEngine("local", begun?.engineOptions ?? {});
  const trained = await withModel(
    engine,
    () => engine.open("policy", weights),
    (model) => played(model, answering),
  );
  progress(`trained: success ${trained.success}`);
  const rows: string[] = [];
  const speeds: string[] = [];
  let passed = true;
  for (const type of packedTypes) {
    const file = join(folder, `${type}.gguf`);
    const made = await whetstone(["export", resolve(run), "--to", "gguf", "--type", type, "--out", file], {
      cwd: folder,
    });
    if (made.code !== 0) throw new Error(made.err);
    const mebibytes = (statSync(file).size / 2 ** 20).toFixed(0);
    speeds.push(`| ${type} | ${mebibytes} | ${made.seconds.toFixed(1)} | ${(made.peak / 1024).toFixed(1)} |`);
    const { cells, lead, alike } = await compared(file, type, trained, answering, Number(threads));
    rows.push(`| ${type} | ${cells.join(" | ")} |`);
    passed &&= alike && lead <= rounding[type];
  }
  const section = [
    "## Exported, in llama.cpp",
    "",
    `Greedy replies to ${tasks} held-out tasks of ${answering.environment.name}, of a trained adapter merged into GGUF files, by llama.cpp (node-llama-cpp, keys and values in 32 bits) and by whetstone; ${machine}. The trained policy itself succeeds in ${(100 * trained.success).toFixed(1)} %. Where two replies part, the lead is how much more probable whetstone finds its own token.`,
    "",
    "| type | replies as the trained policy's | as whetstone's from the same file | largest lead where they part, nats | success, whetstone | success, llama.cpp | prompts read alike |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
    "| `whetstone export --to gguf` | MiB | seconds | largest resident memory, GiB |",
    "| --- | --: | --: | --: |",
    ...speeds,
    "",
  ].join("\n");
  return { section, passed };
}
