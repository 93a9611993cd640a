/** Where a run writes checkpoints and records. In memory: nowhere. */
import type { Model } from "../core/model.ts";
import type { ArtefactStore } from "../store/artefacts.ts";
import type { RunStore } from "../store/runStore.ts";
import type { Weighted } from "./checkpoint.ts";
import type { Journal } from "./journal.ts";
import type { RunState } from "./state.ts";

/** The part of a run store that a run writes to. */
interface WrittenStore extends Pick<RunStore, "saveIteration" | "saveEvaluation"> {
  readonly artefacts: Pick<ArtefactStore, "add" | "measure">;
}

export interface Records {
  /** The checkpoint from which the run resumes. */
  readonly found?: { readonly state: RunState; folderOf(kind: "models" | "frozen", name: string): string };
  readonly store: WrittenStore;
  /** Removes records from this iteration on, and opens the journal of episodes, if there is one. */
  begin(run: string, iteration: number): Promise<Journal | undefined>;
  /** @returns its folder; undefined where nothing is kept. */
  saveCheckpoint(state: RunState, weighted: Weighted): Promise<string | undefined>;
  /** Keeps these weights as the best so far. @returns their folder; undefined where nothing is kept. */
  saveBest(policy: Model): Promise<string | undefined>;
  /** Keeps the weights of this iteration for good. */
  keep(policy: Model, iteration: number): Promise<void>;
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
  keep: async () => undefined,
};
