/** Records of a run in a folder and a store. */
import { join } from "node:path";
import type { RunStore } from "../store/runStore.ts";
import {
  bestFolder,
  findCheckpoint,
  keptFolder,
  lettingGo,
  saveCheckpoint,
  saveModel,
} from "./checkpoint.ts";
import { openJournal } from "./journal.ts";
import type { Records } from "./records.ts";

/** @param resume whether the run resumes from the folder's last checkpoint. */
export async function recordsIn(
  out: string,
  store: RunStore,
  engine: Parameters<typeof lettingGo>[0],
  resume: boolean,
): Promise<Records> {
  const found = resume ? await findCheckpoint(out) : undefined;
  return {
    ...(found && {
      found: { state: found.state, folderOf: (kind, name) => join(found.folder, kind, name) },
    }),
    store,
    async begin(run, iteration) {
      const journal = await openJournal(join(out, "journal.jsonl"), iteration);
      await store.rewind(run, iteration);
      return journal;
    },
    saveCheckpoint: (state, weighted) => lettingGo(engine, out, () => saveCheckpoint(out, state, weighted)),
    async saveBest(policy) {
      const folder = bestFolder(out);
      await lettingGo(engine, out, () => saveModel(folder, policy));
      return folder;
    },
    keep: (policy, iteration) => lettingGo(engine, out, () => saveModel(keptFolder(out, iteration), policy)),
  };
}
