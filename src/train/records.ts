/** Where a run writes checkpoints and records: a folder and a store, or nowhere. */
import { join } from "node:path";
import type { Model } from "../core/model.ts";
import type { ArtefactStore } from "../store/artefacts.ts";
import type { RunStore } from "../store/runStore.ts";
import {
  bestFolder,
  findCheckpoint,
  lettingGo,
  saveCheckpoint,
  saveModel,
  type Weighted,
} from "./checkpoint.ts";
import { type Journal, openJournal } from "./journal.ts";
import type { RunState } from "./state.ts";

/** The part of a run store that a run writes to. */
interface WrittenStore extends Pick<RunStore, "saveIteration" | "saveEvaluation"> {
  readonly artefacts: Pick<ArtefactStore, "add" | "measure">;
}

export interface Records {
  /** The checkpoint from which the run resumes. */
  readonly found?: { readonly folder: string; readonly state: RunState };
  readonly store: WrittenStore;
  /** Removes records from this iteration on, and opens the journal of episodes, if there is one. */
  begin(run: string, iteration: number): Promise<Journal | undefined>;
  /** @returns its folder; undefined where nothing is kept. */
  saveCheckpoint(state: RunState, weighted: Weighted): Promise<string | undefined>;
  /** Keeps these weights as the best so far. @returns their folder; undefined where nothing is kept. */
  saveBest(policy: Model): Promise<string | undefined>;
}

/** A run in memory: nothing is written. */
export const noRecords: Records = {
  store: {
    saveIteration: async () => undefined,
    saveEvaluation: async () => undefined,
    artefacts: { add: async () => false, measure: async () => undefined },
  },
  begin: async () => undefined,
  saveCheckpoint: async () => undefined,
  saveBest: async () => undefined,
};

/** Records in a folder and a store. @param resume whether the run resumes from the folder's last checkpoint. */
export async function recordsIn(
  out: string,
  store: RunStore,
  engine: Parameters<typeof lettingGo>[0],
  resume: boolean,
): Promise<Records> {
  const found = resume ? await findCheckpoint(out) : undefined;
  return {
    ...(found && { found }),
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
  };
}
