/** Writes served traffic and feedback: redacted, packed, in one transaction for each batch. */
import { type Interruptible, inSlices } from "../common/files/slices.ts";
import type { ServedResponse } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { Database } from "./database.ts";
import { erasedAmong } from "./erased.ts";
import { recentResponses } from "./readTraffic.ts";
import { type RedactionOptions, type Redactor, redactor } from "./redaction.ts";
import type { ResponsesTable } from "./schema.ts";
import { packResponse, packSignal, packTraced, requireStorable, sharing, targetsOf } from "./served.ts";
import type { Write, Written } from "./trafficStore.ts";
import { writeRows } from "./writeRows.ts";

/** Most tries of a transaction that conflicts with others. */
const mostTries = 4;

export interface TrafficWriter {
  /** Loads what writing needs. */
  ready(): Promise<void>;
  write(batch: readonly Write[]): Promise<readonly Written[]>;
  /** Forgets the responses that next turns continue, since they may be erased. */
  forget(): void;
}

/** @param secret the store's secret. */
export function trafficWriter(
  database: Database,
  secret: Buffer,
  redaction: RedactionOptions | undefined,
): TrafficWriter {
  const { db } = database;
  const redacting = redaction && redactor(redaction, secret);
  /** The last response of each trajectory, which the next turn continues. */
  const latest = recentResponses();
  const writing: NonNullable<Database["write"]> =
    database.write ?? ((...given) => writeRows(database, ...given));

  async function write(given: readonly Write[]): Promise<readonly Written[]> {
    const batch = redacting ? await redacting.entries(given, await knownResponses(given, redacting)) : given;
    for (const entry of batch) requireStorable(entry);
    const { bases, responses } = await inSlices(packed(batch));
    const signals = batch.flatMap((entry) => (entry.kind === "signal" ? [entry.signal] : []));
    const { added, addedTraced, firsts } = await writing(secret, {
      responses,
      traced: batch.flatMap((entry) => (entry.kind === "traced" ? [packTraced(entry.call)] : [])),
      signals: signals.map((signal) => ({ row: packSignal(signal), targets: targetsOf(signal) })),
    });
    for (const [trajectory, response] of bases) latest.set(trajectory, response);
    let nth = 0;
    // of several with one id in a batch, only one is new
    const fresh = new Set(added);
    const freshTraced = new Set(addedTraced);
    return batch.map((entry): Written => {
      if (entry.kind === "response") {
        const { id } = entry.response;
        return { id, duplicate: !fresh.delete(id) };
      }
      if (entry.kind === "traced")
        return { id: entry.call.id, duplicate: !freshTraced.delete(entry.call.id) };
      const first = firsts[nth++];
      return { id: first ?? entry.signal.id, duplicate: first !== undefined };
    });
  }

  /** Of the response ids in signals that redaction would rename, those that are stored, in the same batch, or erased. */
  async function knownResponses(batch: readonly Write[], { name }: Redactor): Promise<ReadonlySet<Id>> {
    const named = batch.flatMap((entry) => (entry.kind === "signal" ? targetsOf(entry.signal) : []));
    const responses = named.filter((one) => one.what === "response" && name(one.name) !== one.name);
    const known = new Set<Id>();
    if (responses.length === 0) return known;
    for (const entry of batch) if (entry.kind === "response") known.add(entry.response.id);
    for await (const { name } of erasedAmong(db, secret, responses)) known.add(name);
    const ids = [...new Set(responses.map(({ name }) => name))];
    for (let i = 0; i < ids.length; i += 1000) {
      const part = ids.slice(i, i + 1000);
      const found = await db.selectFrom("responses").select("id").where("id", "in", part).execute();
      for (const { id } of found) known.add(id);
    }
    return known;
  }

  /** Responses as rows, and the last one of each trajectory. */
  function* packed(batch: readonly Write[]): Interruptible<{
    readonly bases: ReadonlyMap<Id, ServedResponse>;
    readonly responses: readonly ResponsesTable[];
  }> {
    const bases = new Map<Id, ServedResponse>();
    const responses: ResponsesTable[] = [];
    for (const entry of batch) {
      if (entry.kind !== "response") continue;
      const { response } = entry;
      const last = bases.get(response.trajectory) ?? latest.get(response.trajectory);
      const base = last?.id === response.id ? undefined : last;
      const held = base ? sharing(response, base) : response;
      responses.push(packResponse(held, base));
      bases.set(response.trajectory, held);
      yield;
    }
    return { bases, responses };
  }

  return {
    ready: async () => void (await writing(secret, { responses: [], signals: [], traced: [] })),
    forget: () => latest.clear(),
    async write(batch) {
      if (batch.length === 0) return [];
      for (let tries = 1; ; tries++) {
        try {
          return await write(batch);
        } catch (e) {
          if (tries === mostTries || !mayRepeat(e)) throw database.failure(e);
        }
        // retry with whole turns, which need no base that may have been erased
        latest.clear();
      }
    },
  };
}

/**
 * Whether a retry may succeed: a row references another row that another process erased
 * (SQLITE_CONSTRAINT_FOREIGNKEY, foreign_key_violation), or two transactions deadlocked (deadlock_detected).
 */
function mayRepeat(e: unknown): boolean {
  const { errcode, code } = (e ?? {}) as { errcode?: number; code?: string };
  return errcode === 787 || code === "23503" || code === "40P01";
}
