/** State of the server: sessions, their models and sampling sessions, and futures. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Base, byName } from "./bases.ts";
import type { copyRequest } from "./bodies.ts";
import { type CheckpointAttributes, type Checkpoints, checkpoints } from "./checkpoints.ts";
import type { Fault } from "./fault.ts";
import { type Futures, futures } from "./futures.ts";
import { foundAt, models, type Output, type Pending } from "./models.ts";
import { type Operations, operations } from "./operations.ts";
import type { Live } from "./runs.ts";
import { samplers } from "./samplers.ts";
import { type SamplingSessions, samplingSessions } from "./samplingSessions.ts";
import { openSessions, type SessionOptions } from "./sessions.ts";

export interface ServiceOptions extends SessionOptions {
  readonly bases: readonly Base[];
  /** Folder for checkpoints. */
  readonly folder: string;
  /** Snapshots kept per model for sampling, and most saved models open at a time; the oldest is dropped first. Default 16. */
  readonly snapshots?: number;
}

export interface Service extends Operations, SamplingSessions {
  readonly bases: ReadonlyMap<string, Base>;
  readonly store: Checkpoints;
  readonly futures: Futures;
  createSession(key: string | undefined): string;
  heartbeat(id: string): void;
  finish(id: string): void;
  createModel(body: Output<"createModelRequest">): Pending;
  info(id: string): Output<"infoResponse">;
  /** @returns the path of the copy. @param key idempotency key: a retry makes no second copy. */
  copy(
    body: (typeof copyRequest)["_output"],
    marks: CheckpointAttributes,
    key: string | undefined,
  ): Promise<string | Fault>;
  /** Ids of models that are being trained or have checkpoints. */
  runs(): Promise<readonly string[]>;
  live(id: string): Live | undefined;
  sessions(): readonly string[];
  session(id: string): {
    readonly training_run_ids: readonly string[];
    readonly sampler_ids: readonly string[];
  };
  /** Ends sessions without a recent heartbeat. */
  sweep(): void;
  close(): Promise<void>;
}

export function service(options: ServiceOptions): Service {
  const { bases, folder, snapshots = 16, unique = randomUUID } = options;
  const store = checkpoints(folder);
  const results = futures(unique().slice(-12));
  const drawn = samplers(store, results, snapshots);
  const sessions = openSessions(options, drawn);
  const parts = { bases: byName(bases), store, results, sessions };
  const made = models(parts);
  const copies = new Map<string, Promise<string | Fault>>();

  return {
    ...operations(parts, made, drawn),
    ...samplingSessions(parts, drawn),
    bases: parts.bases,
    store,
    futures: results,
    createSession: sessions.create,
    heartbeat: (id) => void sessions.use(id),
    finish(id) {
      const session = sessions.find(id);
      if (session) sessions.end(session);
    },
    createModel: made.create,
    info(id) {
      const { base, about } = sessions.trainer(id).trainer;
      return {
        model_id: id,
        model_data: { arch: "decoder", model_name: base.name, tokenizer_id: base.folder },
        is_lora: about.lora_rank !== undefined,
        ...(about.lora_rank !== undefined && { lora_rank: about.lora_rank }),
      };
    },
    async copy({ source_path, session_id, model_seq_id }, marks, key) {
      const saved = await foundAt(store, source_path);
      const owner = session_id ? sessions.use(session_id).id : unique();
      const begin = () => store.copy(saved, `${owner}:train:${model_seq_id ?? 0}`, marks);
      if (key === undefined) return await begin();
      const before = copies.get(key) ?? begin();
      copies.set(key, before);
      return await before;
    },
    async runs() {
      const live = sessions.all().flatMap(({ trainers }) => [...trainers.keys()]);
      return [...new Set([...live, ...(await store.models())])];
    },
    live(id) {
      const session = sessions.find(id.split(":")[0] ?? "");
      const trainer = session?.trainers.get(id);
      return session && trainer && { about: trainer.about, lastSeenAt: session.lastSeenAt };
    },
    sessions: () => sessions.all().map(({ id }) => id),
    session(id) {
      const { trainers, samplers } = sessions.read(id);
      return { training_run_ids: [...trainers.keys()], sampler_ids: [...samplers.keys()] };
    },
    sweep: sessions.sweep,
    async close() {
      const trainers = sessions.all().flatMap((session) => [...session.trainers.values()]);
      for (const session of sessions.all()) sessions.end(session);
      const idle = Promise.all([...sessions.ending(), drawn.close()]);
      const isLong = await Promise.race([idle.then(() => false), pause(5000, true, { ref: false })]);
      // a running pass stops at its next rows
      if (isLong) await Promise.allSettled(trainers.map((trainer) => trainer.dispose()));
      await idle; // disposing of an engine during a computation would crash the process
      for (const base of bases) await base.dispose();
    },
  };
}
