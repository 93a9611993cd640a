/** Implements `TrafficStore` on SQLite and PostgreSQL. */
import type { AccessKey, ModelPrice, TrafficSplit, Version } from "../core/served.ts";
import { artefactsOn } from "./artefacts.ts";
import { readResponse } from "./chain.ts";
import { readSessions } from "./completeSessions.ts";
import { connect } from "./connect.ts";
import { type Database, guardedBy } from "./database.ts";
import { secretOf } from "./erased.ts";
import { erase } from "./erasure.ts";
import { readHeads, readResponses, readSignals, readTraced, sessionsOf } from "./readTraffic.ts";
import { addRecord, readRecords } from "./records.ts";
import type { RedactionOptions } from "./redaction.ts";
import type { Erasure, ExportRecord, TrafficStore } from "./trafficStore.ts";
import { trafficWriter } from "./writeTraffic.ts";

/** Settings of {@link openTrafficStore}. */
export interface TrafficStoreOptions {
  /** Redaction before anything is stored. Default: none. */
  readonly redaction?: RedactionOptions;
}

/**
 * Opens or creates a store.
 * @param where a SQLite file, or the URL of a PostgreSQL database.
 * @throws WhetstoneError `store.failed`, `store.full`; `option.range` for a pattern that could run long.
 */
export async function openTrafficStore(
  where: string,
  options: TrafficStoreOptions = {},
): Promise<TrafficStore> {
  const database = await connect(where, "own thread");
  try {
    return trafficStoreOn(database, await secretOf(database.db), options);
  } catch (e) {
    await database.close();
    throw database.failure(e);
  }
}

/** @param secret the store's secret, from `secretOf`. */
export function trafficStoreOn(
  database: Database,
  secret: Buffer,
  options: TrafficStoreOptions = {},
): TrafficStore {
  const { db, where } = database;
  const guarded = guardedBy(database);
  const writer = trafficWriter(database, secret, options.redaction);
  const records = <T>(kind: string) => guarded(() => readRecords<T>(db, kind));
  return {
    where,
    ready: () => guarded(writer.ready),
    write: writer.write,
    response: (id) => guarded(() => readResponse(db, id)),
    responses: (filter) => readResponses(db, guarded, filter),
    heads: (session, most) => guarded(() => readHeads(db, session, most)),
    signals: (filter) => readSignals(db, guarded, filter),
    traced: (filter) => readTraced(db, guarded, filter),
    sessions: (search = {}) => guarded(() => sessionsOf(db, search)),
    completeSessions: (filter) => readSessions(db, guarded, filter),
    addVersion: (version) => guarded(() => addRecord(db, "version", version)),
    versions: () => records<Version>("version"),
    addSplit: (split) => guarded(() => addRecord(db, "split", split)),
    splits: () => records<TrafficSplit>("split"),
    putKey: (key) => guarded(() => addRecord(db, "key", key, "replace")),
    keys: () => records<AccessKey>("key"),
    putPrice: (price) => guarded(() => addRecord(db, "price", price, "replace")),
    prices: () => records<ModelPrice>("price"),
    addExport: (record) => guarded(() => addRecord(db, "export", record, "replace")),
    exports: () => records<ExportRecord>("export"),
    artefacts: artefactsOn(database, guarded),
    erase: (what) =>
      guarded(() => {
        writer.forget();
        return erase(database, secret, what);
      }),
    erasures: () => records<Erasure>("erasure"),
    close: () => database.close(),
  };
}
