/** `whetstone backup` and `whetstone restore`: a copy of a store of one moment, checked, and its way back. */
import type { Command } from "commander";
import { isPostgresUrl, shownUrl } from "../store/where.ts";
import { addCommand, addNote, type Io, progressLine } from "./output.ts";
import { trafficStoreOption } from "./trafficStore.ts";

const beside =
  "One file holds runs, traffic, feedback, versions and keys. The file STORE.signing beside a store signs browser tokens and is not in it: copy it as well, or browsers get new tokens. Weights of runs lie in their folders. What is erased later stays in older copies: delete these in time. The copy of a PostgreSQL store is such a file too, and either database can be restored from any copy.";

export function addBackup(program: Command, io: Io): void {
  const command = addCommand(program, "backup", "Copy a store to a new file, while it is in use.", [
    "whetstone backup backups/2026-11-27.sqlite",
    "whetstone backup /mnt/nas/support.sqlite --store production.sqlite --json",
    "WHETSTONE_STORE=postgres://whetstone@db/whetstone whetstone backup backups/2026-11-27.sqlite",
  ]);
  addNote(command, beside)
    .argument("<file>", "new file")
    .addOption(trafficStoreOption())
    .action(async (file: string, { store }: { readonly store: string }) => {
      const { backUp } = await import("../store/backup.ts");
      await shown(io, "Copied, in %", (copied) => backUp(store, file, copied));
      io.record({ type: "backup", store: named(store), file });
      io.say(`${named(store)} was copied to ${file}, and the copy was checked.`);
    });
}

export function addRestore(program: Command, io: Io): void {
  const command = addCommand(program, "restore", "Put a copy of a store in its place.", [
    "whetstone restore backups/2026-11-27.sqlite --store production.sqlite",
    "whetstone restore backups/2026-11-27.sqlite --replace",
  ]);
  addNote(command, beside)
    .argument("<file>", "copy that whetstone backup made")
    .addOption(trafficStoreOption())
    .option("--replace", "replace the store that is there; stop everything that uses it first")
    .action(async (file: string, options: { readonly store: string; readonly replace?: boolean }) => {
      const { store, replace = false } = options;
      const { restore } = await import("../store/backup.ts");
      await shown(io, "Restored, in %", (copied) => restore(file, store, replace, copied));
      io.record({ type: "restored", store: named(store), file });
      io.say(`${named(store)} is what ${file} holds; the copy was checked.`);
    });
}

/** A store, without a password. */
const named = (store: string): string => (isPostgresUrl(store) ? shownUrl(store) : store);

async function shown(
  io: Io,
  what: string,
  work: (copied: (share: number) => void) => Promise<void>,
): Promise<void> {
  const line = progressLine(io, what);
  try {
    await work((share) => line.at(Math.round(100 * share), 100));
  } finally {
    line.close();
  }
}
