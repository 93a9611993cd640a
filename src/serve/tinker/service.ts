/** State of the server: sessions, their models and sampling sessions, and futures. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { HTTPException } from "hono/http-exception";
import type { z } from "zod";
import type { Model } from "../../core/model.ts";
import { readOutput, writeOutput } from "../../engine/tinker/protobuf.ts";
import * as wire from "../../engine/tinker/protocol.ts";
import { type Adapter, type Base, byName } from "./bases.ts";
import { attributesOf, type copyRequest, type saveExternalRequest, ttlRange } from "./bodies.ts";
import {
  type About,
  type CheckpointAttributes,
  type Checkpoints,
  checkpoints,
  type Saved,
} from "./checkpoints.ts";
import type { Completions } from "./completions.ts";
import { type Fault, fault, isFault } from "./fault.ts";
import { type Futures, futures, type Known, type Result } from "./futures.ts";
import { digestOf } from "./read.ts";
import { clash, ended, tooMany, unknown, wrong } from "./refusals.ts";
import type { Live } from "./runs.ts";
import { type SampleFuture, type Sampler, samplers } from "./samplers.ts";
import { openSaved, type Trainer, trainer } from "./trainer.ts";

export interface ServiceOptions {
  readonly bases: readonly Base[];
  /** Folder for checkpoints. */
  readonly folder: string;
  /** Seconds without a heartbeat after which a session ends and its models are removed. Default 300. */
  readonly sessionSeconds?: number;
  /** Snapshots kept per model for sampling, and most saved models open at a time; the oldest is dropped first. Default 16. */
  readonly snapshots?: number;
  /** Returns a new unique id for sessions and results: letters, digits and dashes. Default: random ids. */
  readonly unique?: () => string;
}

interface Session {
  readonly id: string;
  /** Idempotency key of the request that created it. */
  readonly key: string | undefined;
  /** Time of its last request. */
  heard: Date;
  /** The same, in milliseconds that this process was awake. */
  awake: number;
  readonly trainers: Map<string, Trainer>;
  readonly samplers: Map<string, Sampler>;
}

/** Longest pause between sweeps, in milliseconds, of a process that is awake; after a longer one the machine was asleep. */
const mostPause = 30_000;
/** Largest adapter rank: a larger one could fill the memory and does not help models of this size. */
const mostRank = 1024;
type Body<S extends z.ZodType> = z.output<S>;
/** Ids for polling the result of an operation. */
export type Pending = { readonly request_id: string; readonly model_id: string };

export interface Service {
  readonly bases: ReadonlyMap<string, Base>;
  readonly store: Checkpoints;
  readonly futures: Futures;
  createSession(key: string | undefined): string;
  heartbeat(id: string): void;
  finish(id: string): void;
  createModel(body: Body<typeof wire.createModelRequest>): Pending;
  info(id: string): Body<typeof wire.infoResponse>;
  unload(id: string): Pending;
  // numbered operations: the digest tells a retry from another operation with the same number
  pass(p: wire.Pass, digest: string): Pending;
  step(body: Body<typeof wire.optimStepRequest>, digest: string): Pending;
  save(body: Body<typeof wire.saveWeightsRequest>, digest: string): Pending;
  load(body: Body<typeof wire.loadWeightsRequest>, digest: string): Promise<Pending>;
  saveForSampler(body: Body<typeof wire.saveForSamplerRequest>, digest: string): Pending;
  saveExternal(body: Body<typeof saveExternalRequest>, digest: string): Pending;
  /** Queues an operation that fails in its turn. @param isPass whether the next step then lacks its gradient. */
  refuse(turn: wire.Turn, digest: string, why: string, isPass: boolean): Pending;
  /** @returns the path of the copy. @param key idempotency key: a retry makes no second copy. */
  copy(
    body: Body<typeof copyRequest>,
    marks: CheckpointAttributes,
    key: string | undefined,
  ): Promise<string | Fault>;
  createSampler(body: Body<typeof wire.createSamplingSessionRequest>): Promise<string>;
  sampler(id: string): {
    readonly sampler_id: string;
    readonly base_model: string;
    readonly model_path?: string;
  };
  /** Adds a client to a sampling session. @returns its number; the first client has 0. */
  join(id: string): number;
  sample(body: wire.SampleRequestBody): SampleFuture;
  /** Requests of one client of a sampling session that have ended since a cursor; waits at most `ms` milliseconds. */
  ended(id: string, client: number, cursor: number, ms: number): ReturnType<Completions["since"]>;
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

const json = (of: Extract<Result, { kind: "json" }>["json"]): Result => ({ kind: "json", json: of });
const failed = (fault: Fault): Result => ({ kind: "failed", fault });
const isGone = failed(
  fault(
    "the model has gone: it was unloaded, or its session has ended. Create a new one and load your last checkpoint.",
  ),
);
const outputJson = (bytes: Uint8Array) => wire.outputJson(readOutput(bytes));
/** Bytes of a queued pass's numbers. */
const bytesOf = ({ data }: wire.Pass): number =>
  data.reduce(
    (n, { loss_fn_inputs }) => Object.values(loss_fn_inputs).reduce((m, { data }) => m + data.byteLength, n),
    0,
  );

export function service(options: ServiceOptions): Service {
  const { bases, folder, sessionSeconds = 300, snapshots = 16, unique = randomUUID } = options;
  const known = byName(bases);
  const store = checkpoints(folder);
  const results = futures(unique().slice(-12));
  const sessions = new Map<string, Session>();
  /** Ids of ended sessions. */
  const over = new Set<string>();
  const byKey = new Map<string, string>();
  /** Ended sessions whose models are still being disposed of. */
  const ending = new Set<Promise<unknown>>();
  const drawn = samplers(store, results, snapshots);

  let awake = 0;
  let lastAwake = Date.now();
  /** Milliseconds that this process was awake. Sleep does not count, since clients on the same laptop send no heartbeats then. */
  const passed = (): number => {
    const now = Date.now();
    awake += Math.min(now - lastAwake, mostPause);
    lastAwake = now;
    return awake;
  };
  const isSilent = (session: Session): boolean => passed() - session.awake > 1000 * sessionSeconds;
  const sessionOf = (id: string): Session => {
    const session = sessions.get(id);
    if (!session) throw over.has(id) ? ended(id) : unknown("session", id);
    if (isSilent(session)) throw ended(id); // the next sweep removes it
    session.heard = new Date();
    session.awake = passed();
    return session;
  };
  /** The session that created a model or sampling session; their ids begin with the session's id. */
  const ownerOf = (id: string): Session => sessionOf(id.slice(0, Math.max(0, id.indexOf(":"))));
  const trainerOf = (id: string): { readonly session: Session; readonly trainer: Trainer } => {
    const session = ownerOf(id);
    const trainer = session.trainers.get(id);
    if (!trainer) throw unknown("model", id);
    return { session, trainer };
  };
  const samplerOf = (id: string): Sampler => {
    const sampler = ownerOf(id).samplers.get(id);
    if (!sampler) throw unknown("sampling session", id);
    return sampler;
  };
  const baseOf = (name: string): Base => {
    const base = known.get(name);
    if (base) return base;
    throw wrong(
      `base_model: got ${JSON.stringify(name.slice(0, 200))}, expected one of ${[...known.keys()].join(", ")}.`,
    );
  };

  /** Begins a numbered operation, or returns the one that already has its number. */
  function operation(
    of: Trainer,
    number: number | null | undefined,
    digest: string,
    work: () => Promise<Result>,
    bytes = 0,
  ): Pending {
    // the next operation in order is always accepted: later ones wait for it, so room would never become free
    if (!of.turns.isNext(number || undefined) && results.full) throw tooMany();
    const taken = of.turns.take(number || undefined, digest, () => {
      const future = results.open(bytes);
      return { request: future.id, work: (over) => future.settle(over ? async () => isGone : work) };
    });
    if (taken.kind === "clash") throw clash(`seq_id ${number} of model ${of.id}`);
    return { request_id: taken.request, model_id: of.id };
  }

  /** Begins to create a model, once per sequence number. */
  function begin(
    session: Session,
    { id, base, about }: Pick<Trainer, "id" | "base" | "about">,
    digest: string,
    make: () => Promise<Model>,
    result: Result,
  ): Pending {
    const before = made.get(id);
    if (before) {
      if (before.body !== digest) throw clash(`model ${id}`);
      return { request_id: before.request, model_id: id };
    }
    const future = results.open(0);
    const model = make();
    session.trainers.set(id, trainer({ id, base, about }, model, store));
    made.set(id, { body: digest, request: future.id });
    void future.settle(() => model.then(() => result));
    return { request_id: future.id, model_id: id };
  }
  const made = new Map<string, Known>();

  const samplerId = (session: Session, number: number): string => `${session.id}:sample:${number}`;

  /** Ends a session at once; its models are disposed of when their running operations have ended. */
  function end(session: Session): void {
    sessions.delete(session.id);
    over.add(session.id);
    if (session.key !== undefined) byKey.delete(session.key);
    const disposed = async (): Promise<void> => {
      await Promise.allSettled(
        [...session.trainers.values()].map(async (trainer) => {
          made.delete(trainer.id);
          await trainer.turns.close();
          drawn.forget(trainer.id);
          await trainer.dispose();
        }),
      );
      // includes samplers that the last operation made
      await Promise.allSettled([...session.samplers.values()].map(drawn.retire));
    };
    const done = disposed();
    ending.add(done);
    void done.then(() => ending.delete(done));
  }

  const copies = new Map<string, Promise<string | Fault>>();
  const requireMarks = (ttlSeconds: number | null | undefined): CheckpointAttributes => {
    const marks = attributesOf(ttlSeconds);
    if (marks) return marks;
    throw wrong(ttlRange);
  };

  const aboutOf = (base: Base, adapter?: Adapter): About => ({
    base_model: base.name,
    ...(adapter && { lora_rank: adapter.rank }),
    train_mlp: adapter?.mlp ?? true,
    train_attn: adapter?.attention ?? true,
  });
  const foundAt = async (path: string): Promise<Saved> => {
    const saved = await store.find(path);
    if (isFault(saved)) throw new HTTPException(404, { message: saved.error });
    return saved;
  };

  return {
    bases: known,
    store,
    futures: results,
    createSession(key) {
      const before = key === undefined ? undefined : byKey.get(key);
      if (before !== undefined) return before;
      const id = unique();
      const heard = { heard: new Date(), awake: passed() };
      sessions.set(id, { id, key, ...heard, trainers: new Map(), samplers: new Map() });
      if (key !== undefined) byKey.set(key, id);
      return id;
    },
    heartbeat: (id) => void sessionOf(id),
    finish(id) {
      const session = sessions.get(id);
      if (session) end(session);
    },
    createModel(body) {
      const { session_id, model_seq_id, base_model, lora_config } = body;
      const session = sessionOf(session_id);
      const base = baseOf(base_model);
      const rank = lora_config?.rank ?? 0;
      const { train_mlp: mlp = true, train_attn: attention = true } = lora_config ?? {};
      if (rank > mostRank) throw wrong(`lora_config: got a rank of ${rank}, expected 0 to ${mostRank}.`);
      if (rank > 0 && !mlp && !attention) {
        throw wrong(
          "lora_config: got neither train_mlp nor train_attn, expected at least one: adapters are on these layers only.",
        );
      }
      const adapter = rank > 0 ? { rank, mlp, attention } : undefined;
      const id = `${session.id}:train:${model_seq_id}`;
      const make = () => base.create(lora_config?.seed ?? model_seq_id, adapter);
      const result = json({ model_id: id, type: "create_model" });
      return begin(session, { id, base, about: aboutOf(base, adapter) }, digestOf(body), make, result);
    },
    info(id) {
      const { base, about } = trainerOf(id).trainer;
      return {
        model_id: id,
        model_data: { arch: "decoder", model_name: base.name, tokenizer_id: base.folder },
        is_lora: about.lora_rank !== undefined,
        ...(about.lora_rank !== undefined && { lora_rank: about.lora_rank }),
      };
    },
    unload(id) {
      const { session, trainer } = trainerOf(id);
      return operation(trainer, undefined, "", async () => {
        session.trainers.delete(id);
        made.delete(id);
        void trainer.turns.close(); // not awaited: it resolves only after this operation
        await trainer.dispose();
        return json({ model_id: id, type: "unload_model" });
      });
    },
    pass(p, digest) {
      const { trainer } = trainerOf(p.model_id);
      const work = async (): Promise<Result> => {
        const output = await trainer.pass(p);
        if (isFault(output)) return failed(output);
        return { kind: "protobuf", bytes: writeOutput(output), json: outputJson };
      };
      return operation(trainer, p.seq_id, digest, work, bytesOf(p));
    },
    step(body, digest) {
      const { trainer } = trainerOf(body.model_id);
      return operation(trainer, body.seq_id, digest, async () => {
        const metrics = await trainer.step(body.adam_params);
        return isFault(metrics) ? failed(metrics) : json({ metrics, type: "optim_step" });
      });
    },
    save(body, digest) {
      const { trainer } = trainerOf(body.model_id);
      const marks = requireMarks(body.ttl_seconds);
      return operation(trainer, body.seq_id, digest, async () => {
        const options = { overwritten: body.overwrite, marks };
        const path = await trainer.save("weights", body.path ?? `step-${body.seq_id ?? 0}`, options);
        return isFault(path) ? failed(path) : json({ path, type: "save_weights" });
      });
    },
    async load(body, digest) {
      if (body.model_id) {
        const { trainer } = trainerOf(body.model_id);
        return operation(trainer, body.seq_id, digest, async () => {
          const saved = await store.find(body.path); // read here, since the previous operation may save it
          const wrong = isFault(saved) ? saved : await trainer.load(saved, body.optimizer);
          return wrong
            ? failed(wrong)
            : json({ path: body.path, model_id: trainer.id, type: "load_weights" });
        });
      }
      const { session_id, model_seq_id } = body;
      if (!session_id || model_seq_id === undefined || model_seq_id === null) {
        throw wrong(
          "load_weights: got neither a model_id nor a session_id with a model_seq_id, expected one of the two.",
        );
      }
      const saved = await foundAt(body.path);
      const session = sessionOf(session_id);
      const base = baseOf(body.base_model ?? saved.about.base_model);
      const id = `${session.id}:train:${model_seq_id}`;
      const make = () => openSaved(base, saved, body.optimizer);
      const result = json({ path: body.path, model_id: id, type: "load_weights" });
      return begin(session, { id, base, about: saved.about }, digest, make, result);
    },
    saveForSampler(body, digest) {
      const { session, trainer } = trainerOf(body.model_id);
      const { path: name, sampling_session_seq_id: number } = body;
      if ((name ?? undefined) === undefined && (number ?? undefined) === undefined) {
        throw wrong(
          "save_weights_for_sampler: got neither a path nor a sampling_session_seq_id, expected one of them.",
        );
      }
      const marks = requireMarks(body.ttl_seconds);
      return operation(trainer, body.seq_id, digest, async () => {
        if (name !== undefined && name !== null) {
          const path = await trainer.save("sampler_weights", name, { marks });
          return isFault(path) ? failed(path) : json({ path, type: "save_weights_for_sampler" });
        }
        const id = samplerId(session, number ?? 0);
        if (session.samplers.has(id)) return failed(fault(`sampling session ${id} is there already.`));
        const of = { id, base: trainer.base, body: digest };
        const sampler = drawn.ofSnapshot(of, trainer.id, await trainer.freeze());
        session.samplers.set(id, sampler);
        return json({ path: null, sampling_session_id: sampler.id, type: "save_weights_for_sampler" });
      });
    },
    saveExternal(body, digest) {
      const { trainer } = trainerOf(body.model_id);
      const marks = requireMarks(body.ttl_seconds);
      return operation(trainer, body.seq_id, digest, async () => {
        const path = await trainer.saveExternal(body.path, { marks });
        return isFault(path) ? failed(path) : json({ path, type: "save_weights_external" });
      });
    },
    refuse({ model_id, seq_id }, digest, why, isPass) {
      const { trainer } = trainerOf(model_id);
      return operation(trainer, seq_id, digest, async () => {
        if (isPass) trainer.miss(why);
        return failed(fault(why));
      });
    },
    async copy({ source_path, session_id, model_seq_id }, marks, key) {
      const saved = await foundAt(source_path);
      const owner = session_id ? sessionOf(session_id).id : unique();
      const begin = () => store.copy(saved, `${owner}:train:${model_seq_id ?? 0}`, marks);
      if (key === undefined) return await begin();
      const before = copies.get(key) ?? begin();
      copies.set(key, before);
      return await before;
    },
    async createSampler(body) {
      const { session_id, sampling_session_seq_id, base_model, model_path } = body;
      const session = sessionOf(session_id);
      const id = samplerId(session, sampling_session_seq_id);
      const digest = digestOf(body);
      const isThere = (): boolean => {
        const before = session.samplers.get(id);
        if (before && before.body !== digest) throw clash(`sampling session ${id}`);
        return before !== undefined;
      };
      if (isThere()) return id;
      const saved = model_path ? await foundAt(model_path) : undefined;
      if (isThere()) return id; // created meanwhile
      const name = saved?.about.base_model ?? base_model;
      if (!name) {
        throw wrong(
          "create_sampling_session: got neither a base_model nor a model_path, expected one of them.",
        );
      }
      const of = { id, base: baseOf(name), body: digest };
      session.samplers.set(id, saved ? drawn.ofCheckpoint(of, saved) : drawn.ofBase(of));
      return id;
    },
    sampler(id) {
      const sampler = samplerOf(id);
      return {
        sampler_id: id,
        base_model: sampler.base.name,
        ...(sampler.path !== undefined && { model_path: sampler.path }),
      };
    },
    join: (id) => ++samplerOf(id).joined,
    sample(body) {
      const { sampling_session_id: id } = body;
      if (!id)
        throw wrong("asample: got no sampling_session_id. Create a sampling session for the model first.");
      return drawn.sample(samplerOf(id), body);
    },
    ended: async (id, client, cursor, ms) => await drawn.ended(samplerOf(id), client, cursor, ms),
    async runs() {
      const live = [...sessions.values()].flatMap(({ trainers }) => [...trainers.keys()]);
      return [...new Set([...live, ...(await store.models())])];
    },
    live(id) {
      const session = sessions.get(id.split(":")[0] ?? "");
      const trainer = session?.trainers.get(id);
      return session && trainer && { about: trainer.about, lastSeenAt: session.heard };
    },
    sessions: () => [...sessions.keys()],
    session(id) {
      const session = sessions.get(id);
      if (!session) throw over.has(id) ? ended(id) : unknown("session", id);
      return { training_run_ids: [...session.trainers.keys()], sampler_ids: [...session.samplers.keys()] };
    },
    sweep() {
      for (const session of [...sessions.values()]) if (isSilent(session)) end(session);
    },
    async close() {
      const trainers = [...sessions.values()].flatMap((session) => [...session.trainers.values()]);
      for (const session of [...sessions.values()]) end(session);
      const idle = Promise.all([...ending, drawn.close()]);
      const isLong = await Promise.race([idle.then(() => false), pause(5000, true, { ref: false })]);
      // a running pass stops at its next rows
      if (isLong) await Promise.allSettled(trainers.map((trainer) => trainer.dispose()));
      await idle; // disposing of an engine during a computation would crash the process
      for (const base of bases) await base.dispose();
    },
  };
}
