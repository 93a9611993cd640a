// Agents of other libraries, trained as they are: success before and after over seeds, with t intervals. About half a
// minute of one core a seed and agent.
//
//     node bench/agents.ts            # seeds 1 to 5
//     node bench/agents.ts 6 7 8      # other seeds
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { meanInterval, pairedInterval } from "../src/common/statistics/statistics.ts";
import type { Interval } from "../src/core/interval.ts";

const root = join(import.meta.dirname, "..");
const seeds = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1, 2, 3, 4, 5];
const agents = { "openai client": "02-agent-openai.ts", "AI SDK": "03-agent-ai-sdk.ts" };

interface Result {
  readonly agent: string;
  readonly seed: number;
  /** Share of 100 held-out tasks, actions sampled. */
  readonly before: number;
  readonly after: number;
  readonly seconds: number;
}

async function run(agent: string, file: string, seed: number): Promise<Result> {
  const began = performance.now();
  const child = spawn(process.execPath, [join(root, "examples", file), String(seed)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) text += chunk;
  const stated = (when: string): number => {
    const found = new RegExp(`success ${when} ([\\d.]+)`).exec(text)?.[1];
    if (found === undefined) throw new Error(`${file}, seed ${seed}: no success ${when} in\n${text}`);
    return Number(found);
  };
  const seconds = Math.round((performance.now() - began) / 1000);
  return { agent, seed, before: stated("before"), after: stated("after"), seconds };
}

const percent = ({ mean, low, high }: Interval): string =>
  `${(100 * mean).toFixed(1)} % [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`;

// the two agents side by side, each seed after the other
const runs = Object.entries(agents).map(async ([agent, file]) => {
  const own: Result[] = [];
  for (const seed of seeds) {
    const result = await run(agent, file, seed);
    console.error(JSON.stringify(result));
    own.push(result);
  }
  return own;
});
const results = (await Promise.all(runs)).flat();
writeFileSync(join(import.meta.dirname, "results/agents.json"), `${JSON.stringify(results, null, 1)}\n`);

console.log("| agent | before | after | gain |\n| --- | --- | --- | --- |");
for (const agent of Object.keys(agents)) {
  const own = results.filter((r) => r.agent === agent);
  const [before, after] = [own.map((r) => r.before), own.map((r) => r.after)];
  const cells = [
    agent,
    ...[meanInterval(before), meanInterval(after), pairedInterval(after, before)].map(percent),
  ];
  console.log(`| ${cells.join(" | ")} |`);
}
console.log(`\n${seeds.length} seeds, 100 held-out tasks each, actions sampled; 95 % t intervals over seeds`);
