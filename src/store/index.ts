export {
  type ReadArtefact,
  readArtefactFolder,
  type WriteArtefact,
  writeArtefactFolder,
} from "./artefactFolder.ts";
export type { ArtefactStore, ArtefactSummary } from "./artefacts.ts";
export { openEntryStore } from "./entryStore.ts";
export { openTrafficStore, type TrafficStoreOptions } from "./openTrafficStore.ts";
export * from "./recorder.ts";
export * from "./redaction.ts";
export * from "./runStore.ts";
export type { RunState } from "./schema.ts";
export type * from "./trafficStore.ts";
export type { Saved } from "./trajectoryRow.ts";
