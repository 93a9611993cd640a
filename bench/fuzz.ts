// Malformed and heavy requests to every server of ours, and files that are wrong, all of which have to be survived.
//
//     node bench/fuzz.ts --of gateway --requests 100000 --heavy 600 [--store postgres] [--seed 1] [--from 4711]
//     node bench/fuzz.ts --of files --requests 5000
//
// `--of`: gateway, dashboard, tinker, openenv, agent (an agent's own endpoint) or files. Servers are the real commands, each in a
// process of its own. Writes a section of bench/results/fuzz.md; ends with 1 where anything is amiss.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { randomStream } from "../src/core/random.ts";
import { startPostgres } from "../test/store/postgres.ts";
import { crowd } from "./fuzz/crowd.ts";
import { fuzzFiles } from "./fuzz/files.ts";
import { fuzz } from "./fuzz/fuzz.ts";
import { heavy, type Weighed, weigh } from "./fuzz/heavy.ts";
import { amissIn, filesSection, type ServerRun, serverSection } from "./fuzz/page.ts";
import { type FuzzedServer, serverNames, startServer } from "./fuzz/servers.ts";
import { fuzzSockets } from "./fuzz/sockets.ts";
import { keepSection, progress } from "./report.ts";

const { values } = parseArgs({
  options: {
    of: { type: "string", default: "gateway" },
    requests: { type: "string", default: "100000" },
    heavy: { type: "string", default: "600" },
    seed: { type: "string", default: "1" },
    from: { type: "string", default: "0" },
    store: { type: "string", default: "sqlite" },
    out: { type: "string", default: join(import.meta.dirname, "results", "fuzz.md") },
  },
});
const [requests, seed, from] = [Number(values.requests), Number(values.seed), Number(values.from)];
const folder = mkdtempSync(join(tmpdir(), "whetstone-fuzz-"));
const name = serverNames.find((one) => one === values.of);
if (name === undefined && values.of !== "files") throw new Error(`no "${values.of}" to be fuzzed`);

const text = name === undefined ? await ofFiles() : await ofServer(name);
keepSection(values.out, "# Malformed requests, heavy requests, damaged files", text);
console.log(text);
rmSync(folder, { recursive: true, force: true });

async function ofFiles(): Promise<string> {
  const began = performance.now();
  const result = await fuzzFiles(folder, requests, seed, { from });
  for (const line of [...result.unforeseen, ...result.hangs, ...result.crashes]) console.log(line);
  if (result.unforeseen.length + result.hangs.length + result.crashes.length > 0) process.exitCode = 1;
  return filesSection(result, { requests, seed, seconds: (performance.now() - began) / 1000 });
}

async function ofServer(which: (typeof serverNames)[number]): Promise<string> {
  const database = values.store === "postgres" ? await startPostgres() : undefined;
  if (typeof database === "string") throw new Error(database);
  const server = await startServer(which, folder, await database?.database());
  try {
    const run = await runOf(which, server);
    const amiss = amissIn(run);
    for (const line of amiss.slice(0, 40)) console.log(line);
    if (amiss.length > 0) process.exitCode = 1;
    return serverSection(run, { name: which, store: values.store, requests, seed });
  } finally {
    await server.stop();
    await database?.stop();
  }
}

/** First what is malformed, all at once; then what is heavy, one after the other; then a crowd that says nothing. */
async function runOf(which: string, server: FuzzedServer): Promise<ServerRun> {
  const { port, endpoints, good, version } = server;
  const memory: number[] = [];
  const every = Math.max(1, Math.floor(requests / 10));
  const began = performance.now();
  await server.pause();
  const malformed = await fuzz({
    port,
    endpoints,
    good,
    ...(version === undefined ? {} : { version }),
    requests,
    seed,
    from,
    progress: (done) => {
      if (done % every !== 0 || server.ended() !== undefined) return;
      memory.push(server.memory());
      progress(`${which}: ${done} of ${requests}, ${memory.at(-1)?.toFixed(0)} MiB`);
    },
  });
  const seconds = (performance.now() - began) / 1000;
  const together =
    server.ended() === undefined ? await server.pause() : { cpu: Number.NaN, wall: Number.NaN };
  const random = randomStream(seed);
  const nth = heavy(endpoints);
  const weighed: Weighed[] = [];
  for (let n = 0; n < Number(values.heavy) && server.ended() === undefined; n++) {
    weighed.push(await weigh(server, nth(random, n)));
    if (n % 100 === 99) progress(`${which}: ${n + 1} heavy ones`);
  }
  const isUp = server.ended() === undefined;
  const sockets = which === "openenv" && isUp ? await fuzzSockets(server, requests, seed) : undefined;
  const held = isUp ? await crowd(server, 2500) : undefined;
  return {
    malformed,
    seconds,
    together,
    memory,
    weighed,
    ...(sockets && { sockets }),
    ...(held && { crowd: held }),
    log: server.log,
    ended: server.ended(),
  };
}
