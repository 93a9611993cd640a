/**
 * Trains a transformer of one layer with every method that trains weights, until all that it steps has moved twice:
 *
 *     node scripts/smoke-methods.ts [--sample N] [--seed N] [METHOD…]
 *
 * Prints one line a method as it ends. With `--sample N`, N methods, spread over the catalogue, and others with each seed.
 * Exit status 1 if a method failed; failures are repeated at the end with their stack.
 */
import { parseArgs } from "node:util";
import "./smoke/hooks.ts";

// after the hooks
const { methods, findMethod } = await import("../src/methods/catalogue.ts");
const { runOf, unsuited } = await import("./smoke/runs.ts");
const { withoutWeights } = await import("../src/arenas/excluded.ts");
const { twoUpdates } = await import("./smoke/updates.ts");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: "string" }, seed: { type: "string", default: "1" } },
});
const seed = wholeNumber("--seed", values.seed);
const asked = positionals.length > 0 ? positionals.map((id) => findMethod(id)) : methods;
const left = asked.flatMap((method) => {
  const why = skipped(method);
  return why === undefined ? [] : [{ method, why }];
});
const training = asked.filter((method) => skipped(method) === undefined);
const sample = values.sample === undefined ? training.length : wholeNumber("--sample", values.sample);
const among = training.filter((_, i) => isSampled(i, training.length, sample));

const width = Math.max(...asked.map(({ id }) => id.length));
const failures: { readonly id: string; readonly error: unknown }[] = [];
const began = performance.now();
for (const method of among) {
  const from = performance.now();
  const line = (said: string): void =>
    console.log(
      `${method.id.padEnd(width)}  ${((performance.now() - from) / 1000).toFixed(1).padStart(5)} s  ${said}`,
    );
  try {
    const run = await runOf(method, seed);
    const { iterations, imitated, gradients } = await twoUpdates(run, seed);
    const norms = Object.entries(gradients).map(([model, norm]) => `${model} ${norm.toPrecision(2)}`);
    const imitation = imitated > 0 ? `, ${imitated} of imitation` : "";
    line(`ok in ${run.environment.name}: ${iterations} iterations${imitation}; gradient ${norms.join(", ")}`);
  } catch (error) {
    failures.push({ id: method.id, error });
    line(`FAILED: ${error instanceof Error ? error.message : String(error)}`);
  }
}
for (const { method, why } of left) console.log(`${method.id.padEnd(width)}  skipped: ${why}`);
for (const { id, error } of failures)
  console.error(`\n${id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
const total = ((performance.now() - began) / 1000).toFixed(0);
console.log(
  `\n${among.length - failures.length} of ${among.length} methods made two updates in ${total} s; ${left.length} skipped, ${training.length - among.length} not sampled.`,
);
if (failures.length > 0) {
  console.error(`failed: ${failures.map(({ id }) => id).join(", ")}`);
  process.exitCode = 1;
}

function skipped(method: (typeof methods)[number]): string | undefined {
  return withoutWeights(method) ?? unsuited[method.id];
}

/** Whether the i-th of `of` belongs to a sample of `count`, evenly spaced from a place that depends on the seed. */
function isSampled(i: number, of: number, count: number): boolean {
  const place = (i + seed) % of;
  return Math.floor(((place + 1) * count) / of) > Math.floor((place * count) / of);
}

function wholeNumber(name: string, text: string): number {
  const n = Number(text);
  if (Number.isInteger(n) && n > 0) return n;
  console.error(`${name} needs a whole number from 1, not "${text}"`);
  process.exit(2);
}
