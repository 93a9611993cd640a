// Seconds to read the training examples of one kind out of 10,000 sessions, and the memory that it takes.
//
//     node bench/learn-from-feedback.ts --store sqlite
//     node bench/learn-from-feedback.ts --store postgres
//
// Each session has three turns; three in ten have a thumb, one in ten a correction.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { ReceivedSignal } from "../src/core/served.ts";
import { trainingExampleKinds } from "../src/core/trainingExamples.ts";
import { trainingExamplesFrom } from "../src/exchange/derived.ts";
import { openTrafficStore } from "../src/store/openTrafficStore.ts";
import type { Write } from "../src/store/trafficStore.ts";
import { startPostgres } from "../test/store/postgres.ts";
import { served } from "../test/store/served.ts";

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    sessions: { type: "string", default: "10000" },
  },
});
const sessions = Number(values.sessions);
const folder = mkdtempSync(join(tmpdir(), "whetstone-feedback-"));
const server = values.store === "postgres" ? await startPostgres() : undefined;
if (typeof server === "string") throw new Error(server);
const store = await openTrafficStore(server ? await server.database() : join(folder, "traffic.db"));

for (let s = 0; s < sessions; ) {
  const batch: Write[] = [];
  for (const until = Math.min(sessions, s + 200); s < until; s++) {
    for (let turn = 0; turn < 3; turn++)
      batch.push({ kind: "response", response: served(`${s}`, turn, { at: 1000 * s + turn }) });
    const signal = said(s);
    if (signal) batch.push({ kind: "signal", signal });
  }
  await store.write(batch);
}

function said(s: number): ReceivedSignal | undefined {
  const from = { id: `signal-${s}`, channel: "said", source: "user", at: s, received: s, tags: {} } as const;
  const about = [{ response: `response-${s}-1` }];
  if (s % 10 < 3) return { ...from, kind: "reaction", about, value: s % 2, text: "thumb" };
  return s % 10 === 3 ? { ...from, kind: "correction", about, text: `rather ${s}` } : undefined;
}

for (const kind of trainingExampleKinds) {
  global.gc?.();
  const began = performance.now();
  const cpu = process.cpuUsage();
  let found = 0;
  let heap = 0;
  for await (const example of trainingExamplesFrom(store, { kinds: [kind], silent: false })) {
    if (example.kind === "dropped") continue;
    if (found++ % 500 === 0) heap = Math.max(heap, process.memoryUsage().heapUsed);
  }
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `${values.store} ${kind}: ${found} examples in ${seconds.toFixed(2)} s (CPU ${((user + system) / 1e6).toFixed(2)} s), heap at most ${(heap / 1e6).toFixed(0)} MB`,
  );
}

await store.close();
await server?.stop();
rmSync(folder, { recursive: true });
