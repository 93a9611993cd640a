/**
 * The official SDK's own client and the tinker-cookbook's simplest recipes, unmodified, against our server of the Tinker API.
 *
 *     node bench/tinker-server.ts --python /path/to/python
 *
 * The Python has tinker, tinker-cookbook, torch, transformers, datasets, sympy, pylatexenc and math-verify. What it says is
 * written to bench/results/tinker-server.md.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { randomStream } from "../src/core/random.ts";
import { openBase, tinyBase } from "../src/serve/tinker/bases.ts";
import { tinkerServer } from "../src/serve/tinker/server.ts";
import { openNetwork } from "./tinker-faults/network.ts";

const { values } = parseArgs({ options: { python: { type: "string", default: "python3" } } });
const folder = await mkdtemp(join(tmpdir(), "tinker-"));
const tiny = await tinyBase(folder);
const server = await tinkerServer({ bases: [await openBase(tiny)], folder });
const network = await openNetwork(server.url, randomStream("tinker-server"));

/** What a script printed. @throws Error with the end of what it complained of. */
function python(script: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, TINKER_API_KEY: "tml-bench", HF_HUB_OFFLINE: "1" };
  const child = spawn(values.python, [join(import.meta.dirname, "peers", script), ...args], { env });
  let [out, complaints] = ["", ""];
  child.stdout.on("data", (d) => {
    out += d;
  });
  child.stderr.on("data", (d) => {
    complaints += d;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(out) : reject(new Error(`${script}: ${complaints.slice(-2000)}`)),
    );
  });
}

try {
  const client = await python("tinker_client.py", server.url, "tiny");
  network.weather = { lost: 0.04, unheard: 0.04, doubled: 0.04, delayed: 0.04, cut: 0.04, refused: 0.04 };
  const disturbed = await python("tinker_client.py", network.url, "tiny");
  if (disturbed !== client) throw new Error(`over a bad network: ${disturbed}`);
  const rest = await python("tinker_rest.py", server.url, "tiny");
  const recipes: string[] = [];
  for (const recipe of ["sl", "rl"]) {
    const out = await python("tinker_recipes.py", server.url, tiny, recipe, join(folder, recipe));
    recipes.push(out.trim().split("\n").at(-1) ?? "");
  }
  const text = `# Clients of the Tinker API against our server

Written by \`node bench/tinker-server.ts\`. Of two numbers the first is the server's, the second the formula's in Python; of
\`resumed\` they are the loss after one more step of the model itself, of one loaded with the optimiser's state, and without.

The SDK's own client (\`bench/peers/tinker_client.py\`):

\`\`\`json
${client.trim()}
\`\`\`

It says the same, figure by figure, where one call in four is lost, unheard, doubled, delayed, cut or refused with 429 or 5xx on
the way and its own retries make up for that:

\`\`\`json
${JSON.stringify(network.faults)}
\`\`\`

What it asks for beside training (\`bench/peers/tinker_rest.py\`), and what it is told of what is not served:

\`\`\`json
${rest.trim()}
\`\`\`

The recipes \`sl_loop\` and \`rl_loop\` of the tinker-cookbook, on text of our own (\`bench/peers/tinker_recipes.py\`):

\`\`\`json
${recipes.join("\n")}
\`\`\`
`;
  await writeFile(join(import.meta.dirname, "results", "tinker-server.md"), text);
  console.log(text);
} finally {
  await network.close();
  await server.close();
  await rm(folder, { recursive: true });
}
