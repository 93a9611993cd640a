/** What was found, as a page. */
import type { Curve } from "./runs.ts";
import type { Scale } from "./scale.ts";

export interface Found {
  readonly name: string;
  /** A step on the API's own loss. */
  readonly raw?: Scale;
  /** A step as the engine takes it. */
  readonly equal?: Scale;
  readonly runs?: readonly Curve[];
  /** Why something is missing. */
  reason?: string;
}

/** What stands in the way of a server, whatever its log says. */
const notes: Readonly<Record<string, string>> = {
  tuft:
    "TuFT 0.2.2 needs a GPU: its trainer asks Ray for one and calls CUDA in every pass, and samples come from vLLM alone, whose package is made for CUDA. " +
    "Without one its server starts, and no model of it ever does; TUFT_CPU_TEST=1 computes toy numbers that learn nothing.",
};

const mean = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;
const ends = 3;
const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");

function scaleRow(name: string, loss: string, of: Scale, local: Scale): string[] {
  const apart = of.logp.reduce((most, x, i) => Math.max(most, Math.abs(x - local.logp[i]!)), 0);
  return [
    name,
    loss,
    (of.twice / of.one).toFixed(3),
    (of.long / of.one / (local.long / local.one)).toFixed(3),
    (of.one / local.one).toFixed(3),
    apart.toExponential(1),
  ];
}

function runRows({ name, runs = [] }: Found): string[][] {
  return runs.map(({ method, seed, values, seconds }) => [
    name,
    method,
    `${seed}`,
    mean(values.slice(0, ends)).toFixed(3),
    mean(values.slice(-ends)).toFixed(3),
    `${values.length}`,
    seconds.toFixed(0),
  ]);
}

export function pageOf(
  here: Found & { readonly equal: Scale },
  there: readonly Found[],
  { env, rank }: { readonly env: string; readonly rank: number },
): string {
  const scales = [here, ...there].flatMap(({ name, raw, equal }) => [
    ...(raw ? [scaleRow(name, "`cross_entropy`", raw, here.equal)] : []),
    ...(equal ? [scaleRow(name, "made equal", equal, here.equal)] : []),
  ]);
  const missing = there.flatMap(({ name, reason }) =>
    reason === undefined
      ? []
      : [
          `**${name}**: ${notes[name] ?? ""}\n\n  \`\`\`\n  ${reason.trim().replaceAll("\n", "\n  ")}\n  \`\`\``,
        ],
  );
  return `# Servers of the Tinker API, and this machine's own engine

Written by \`node bench/tinker-peers.ts\`: SkyRL 0.3.0 and TuFT 0.2.2 as they are on PyPI, and \`whetstone serve --tinker\`, on one tiny
model (a Llama of 2 layers, written by \`whetstone export\`) and a LoRA adapter of rank ${rank}.

## What a step is worth

A step of plain gradient descent on the loss Σ −ln p of a row's targets. The *same row twice* should be worth 2 steps on it, and a
*longer row* as much more as it is locally (1 here), or a learning rate and a method mean something else than elsewhere. \`cross_entropy\`
is the API's own loss as the server takes it; *made equal* is what \`--engine tinker\` sends. *Of local* is the whole effect over the
local engine's: what is left in it is how the server draws its adapters and scales them by alpha. *Apart* is the largest difference of a
log-probability before any step, in nats.

${table(["server", "loss", "same row twice", "longer row", "of local", "apart"], scales)}

## Whole runs

\`whetstone train --env ${env}\`, first and last ${ends} iterations: the mean reward of the attempts for GRPO, −ln p of a demonstrated token for
SFT. Local runs have the same seeds; the adapters of servers begin from draws of their own.

${table(["engine", "method", "seed", "first", "last", "iterations", "seconds"], [here, ...there].flatMap(runRows))}
${missing.length === 0 ? "" : `\n## What could not be run\n\n${missing.map((m) => `- ${m}`).join("\n")}\n`}`;
}
