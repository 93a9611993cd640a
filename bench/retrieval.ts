// How fast texts are found again among many, how much of what exact search finds is found, and what they take on disk.
//
//     node bench/retrieval.ts --entries 100000 --queries 400
//     node bench/retrieval.ts --texts lines.txt            # real texts, one a line, in place of made ones
//
// Writes bench/results/retrieval.md. Exact search compares the query with every vector in float32.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { dot } from "../src/core/encoder.ts";
import { randomStream, shuffled } from "../src/core/random.ts";
import { openRetrieval, type SearchOptions } from "../src/memory/retrieval.ts";
import { openEntryStore } from "../src/store/entryStore.ts";
import { quantile } from "./gateway/load.ts";
import { progress } from "./report.ts";

const { values } = parseArgs({
  options: {
    entries: { type: "string", default: "100000" },
    queries: { type: "string", default: "400" },
    exact: { type: "string", default: "60" },
    texts: { type: "string" },
    out: { type: "string", default: join(import.meta.dirname, "results", "retrieval.md") },
  },
});
const [entries, queries, exact] = [Number(values.entries), Number(values.queries), Number(values.exact)];
const random = randomStream("bench retrieval");

/** Texts of 8 to 24 words: two thirds from one of 500 subjects, the rest by Zipf's law from 30,000 words. */
function madeTexts(count: number): string[] {
  const syllables = [..."bdfgklmnprstvz"].flatMap((c) => [..."aeiou"].map((v) => c + v));
  const word = (): string =>
    Array.from({ length: 2 + random.below(3) }, () => syllables[random.below(syllables.length)]!).join("");
  const vocabulary = Array.from({ length: 30_000 }, word);
  const common = (): string => vocabulary[Math.floor(vocabulary.length ** random.next()) - 1]!;
  const subjects = Array.from({ length: 500 }, () =>
    Array.from({ length: 60 }, () => vocabulary[random.below(vocabulary.length)]!),
  );
  return Array.from({ length: count }, () => {
    const subject = subjects[random.below(subjects.length)]!;
    const length = 8 + random.below(17);
    return Array.from({ length }, () =>
      random.next() < 2 / 3 ? subject[random.below(subject.length)]! : common(),
    ).join(" ");
  });
}

const texts =
  values.texts === undefined
    ? madeTexts(entries + queries)
    : shuffled(readFileSync(values.texts, "utf8").split("\n").filter(Boolean), random).slice(
        0,
        entries + queries,
      );
const asked = texts.splice(0, queries);

const [load = 0] = loadavg();
const folder = mkdtempSync(join(tmpdir(), "whetstone-retrieval-"));
const file = join(folder, "store.sqlite");
const cpuMs = (): number => process.cpuUsage().user / 1000;
const seconds = (ms: number): string => (ms / 1000).toFixed(1);
try {
  const shelf = await openEntryStore(file);
  const index = await openRetrieval({ store: shelf });
  const before = cpuMs();
  for (let i = 0; i < texts.length; i += 2000) {
    await index.put(texts.slice(i, i + 2000).map((text, k) => ({ id: `${i + k}`, text })));
    if (i % 20_000 === 0) progress(`${i} texts put`);
  }
  const putMs = cpuMs() - before;
  await shelf.close();
  const bytes = statSync(file).size / texts.length;
  const letters = texts.reduce((sum, text) => sum + text.length, 0) / texts.length;

  const again = await openEntryStore(file);
  const opening = cpuMs();
  const opened = await openRetrieval({ store: again });
  const openMs = cpuMs() - opening;
  await again.close();

  const rows: string[] = [];
  for (const by of ["vectors", "words", "both"] satisfies SearchOptions["by"][]) {
    const [wall, cpu]: [number[], number[]] = [[], []];
    for (const query of asked) {
      const [t, c] = [performance.now(), cpuMs()];
      await opened.search(query, { by });
      wall.push(performance.now() - t);
      cpu.push(cpuMs() - c);
    }
    const ms = (of: readonly number[], q: number): string => quantile(of, q).toFixed(1);
    progress(`${by}: p95 ${ms(cpu, 0.95)} ms of CPU`);
    rows.push(`| ${by} | ${ms(cpu, 0.5)} | **${ms(cpu, 0.95)}** | ${ms(wall, 0.5)} | ${ms(wall, 0.95)} |`);
  }

  progress("exact search");
  const vectors = await index.encoder.embed(texts);
  let found = 0;
  for (const query of asked.slice(0, exact)) {
    const [vector] = await index.encoder.embed([query]);
    const cosines = Float32Array.from(vectors, (one) => dot(one, vector!));
    const tenth = cosines.toSorted().at(-10)!;
    const hits = await opened.search(query, { by: "vectors" });
    found += hits.filter(({ entry }) => cosines[Number(entry.id)]! >= tenth - 1e-6).length;
  }
  const recall = found / (10 * Math.min(exact, asked.length));
  const memory = process.memoryUsage();
  const source = values.texts === undefined ? "made texts" : "real texts";
  const text = [
    "# Retrieval",
    "",
    `\`node bench/retrieval.ts --entries ${entries} --queries ${queries}${values.texts === undefined ? "" : " --texts …"}\`, ${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}: ${texts.length} ${source} of ${letters.toFixed(0)} letters, vectors of ${index.encoder.width} numbers (\`${index.encoder.id}\`), ten hits a query, one thread.`,
    "",
    "| search by | CPU p50, ms | CPU p95, ms | clock p50, ms | clock p95, ms |",
    "| --- | --: | --: | --: | --: |",
    ...rows,
    "",
    `- recall@10 by vectors, of exact search in float32 over ${Math.min(exact, asked.length)} queries: **${recall.toFixed(3)}**`,
    `- on disk (SQLite): **${bytes.toFixed(0)} bytes** an entry, of which ${(letters).toFixed(0)} are its text and ${index.encoder.width + 4} its vector; ${((bytes * texts.length) / 2 ** 20).toFixed(0)} MiB in all`,
    `- put: ${(putMs / texts.length).toFixed(2)} ms of CPU an entry, embedding included; opened again in ${seconds(openMs)} s of CPU`,
    `- resident memory with the index twice and the vectors of exact search: ${(memory.rss / 2 ** 20).toFixed(0)} MiB`,
    "",
    `Processes that wanted a core before it began: ${load.toFixed(1)}. Where there were more than cores, the clock counts their work too, and CPU time is what one core needs for a query.`,
    "",
  ].join("\n");
  writeFileSync(values.out, text);
  console.log(text);
} finally {
  rmSync(folder, { recursive: true });
}
