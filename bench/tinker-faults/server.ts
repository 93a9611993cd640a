// Serves a tiny model over the Tinker API until it is killed: node bench/tinker-faults/server.ts FOLDER [PORT]
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { localEngine } from "../../src/engine/local/index.ts";
import { openBase } from "../../src/serve/tinker/bases.ts";
import { tinkerServer } from "../../src/serve/tinker/server.ts";

const [folder = "", port = "0"] = process.argv.slice(2);
const tiny = join(folder, "tiny");
if (!existsSync(tiny)) {
  const size = { width: 16, layers: 1, heads: 2, kvHeads: 2, feedForward: 16 };
  const engine = localEngine({ tokenizer: "bytes", size, threads: 1 });
  mkdirSync(tiny, { recursive: true });
  await (await engine.create({ id: "tiny", seed: 1, vocabulary: [], contextTokens: 128 })).save(tiny);
  await engine.dispose();
}
const base = await openBase(tiny, { threads: 1 });
const server = await tinkerServer({ bases: [base], folder, port: Number(port), key: "tml-faults" });
console.log(server.url);
