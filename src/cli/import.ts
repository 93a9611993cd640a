/** `whetstone import`: traffic and feedback that somebody else's tool has collected. */
import { type Command, Option } from "commander";
import { type Imported, type ImportFormat, importers, importFile } from "../exchange/import/importFile.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import { addCommand, type Io, progressLine } from "./output.ts";
import { redacting, redactOption, trafficStoreOption, withTrafficStore } from "./trafficStore.ts";

/** Milliseconds after which it says how far it is. */
const quiet = 1000;

interface ImportOptions {
  readonly from: ImportFormat;
  readonly store: string;
  readonly dryRun?: boolean;
  readonly redact?: string;
}

export function addImport(program: Command, io: Io): void {
  addCommand(program, "import", "Import traffic and feedback that another tool has collected.", [
    "whetstone import traces.jsonl --from langfuse",
    "whetstone import scores.csv --from langfuse",
    "whetstone import runs.jsonl --from langsmith --store postgres://localhost/whetstone",
    "whetstone import preferences.jsonl --from trl --dry-run",
  ])
    .argument("<file>", "JSON lines, JSON or CSV")
    .addOption(
      new Option("--from <format>", "format of the file")
        .choices(Object.keys(importers))
        .makeOptionMandatory(),
    )
    .option("--dry-run", "read and count all records, and write nothing")
    .addOption(redactOption())
    .addOption(trafficStoreOption())
    .action(async (file: string, { from, store, redact, dryRun = false }: ImportOptions) => {
      const began = performance.now();
      const line = progressLine(io, `Importing ${file}, %`);
      const bring = (production?: TrafficStore): Promise<Imported> =>
        importFile(production, file, {
          from,
          dryRun,
          now: Date.now(),
          progress: (doing, read, of) => {
            if (performance.now() - began > quiet) line.at(percentOf(doing, read / Math.max(1, of)), 100);
          },
        });
      try {
        const imported = await (dryRun ? bring() : withTrafficStore(store, bring, "any", redacting(redact)));
        line.close();
        io.record({ type: "import", file, from, dryRun, ...imported });
        io.say(...summary(imported, dryRun));
      } finally {
        line.close();
      }
    });
}

/** Each of the passes over the file is a third of the way. */
function percentOf(doing: "reading" | "checking" | "writing", share: number): number {
  const before = { reading: 0, checking: 1, writing: 2 }[doing];
  return Math.floor((100 * (before + Math.min(1, share))) / 3);
}

function summary({ records, responses, signals, ignored }: Imported, dryRun: boolean): string[] {
  const counted = (what: string, { added, known }: Imported["responses"]): string =>
    `${what}: ${added} ${dryRun ? "found" : "new"}${known > 0 ? `, ${known} already in the store` : ""}`;
  return [
    `Records: ${records}`,
    counted("Responses", responses),
    counted("Signals", signals),
    ...Object.entries(ignored).map(([why, n]) => `Left out: ${n} × ${why}`),
    ...(dryRun ? ["Nothing was written (--dry-run)."] : []),
  ];
}
