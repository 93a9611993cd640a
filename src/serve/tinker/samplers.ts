/** Sampling sessions: their weights and their requests. */
import { HTTPException } from "hono/http-exception";
import { WhetstoneError } from "../../core/errors.ts";
import type { Frozen, Model } from "../../core/model.ts";
import { readSamples, writeSamples } from "../../engine/tinker/protobuf.ts";
import { type SampleRequestBody, samplesJson } from "../../engine/tinker/protocol.ts";
import type { Base } from "./bases.ts";
import type { Checkpoints, Saved } from "./checkpoints.ts";
import { type Completions, completions } from "./completions.ts";
import { isFault } from "./fault.ts";
import type { Futures, Known, Result } from "./futures.ts";
import { digestOf } from "./read.ts";
import { clash, tooMany } from "./refusals.ts";
import { type Source, sampled } from "./sampling.ts";
import { type SharedWeights, sharedWeights, weightsCache } from "./sharedWeights.ts";

export interface Sampler {
  readonly id: string;
  readonly base: Base;
  /** Path of the checkpoint that it samples from, if any. */
  readonly path?: string;
  /** Digest of the request that created it. */
  readonly body: string;
  /** Absent once a newer snapshot has replaced it. */
  weights?: SharedWeights<Source>;
  /** Requests by their sequence number. */
  readonly known: Map<number, Known>;
  /** Ended requests of each client that shares the session. */
  readonly ended: Map<number, Completions>;
  /** Number of clients that joined. */
  joined: number;
}

export interface SampleFuture {
  readonly request_id: string;
  readonly sample_sequence_ids: readonly string[];
}

export interface Samplers {
  ofBase(of: Pick<Sampler, "id" | "base" | "body">): Sampler;
  ofCheckpoint(of: Pick<Sampler, "id" | "base" | "body">, saved: Saved): Sampler;
  /** Creates a sampler from a snapshot of a model's weights. Samplers of one snapshot share it; a new snapshot replaces the model's oldest one. */
  ofSnapshot(of: Pick<Sampler, "id" | "base" | "body">, model: string, snapshot: Frozen): Sampler;
  sample(sampler: Sampler, body: SampleRequestBody): SampleFuture;
  /** Requests of one client that have ended since a cursor; waits at most `ms` milliseconds. */
  ended(sampler: Sampler, client: number, cursor: number, ms: number): ReturnType<Completions["since"]>;
  /** Releases its weights after the running samples. */
  retire(sampler: Sampler): Promise<void>;
  /** Drops all snapshots of a model. */
  forget(model: string): void;
  /** Releases the weights of base models. */
  close(): Promise<void>;
}

/** A client of a shared sampling session numbers its requests from its own number times this. */
const perClient = 1_000_000_000;
/** Most requests remembered for retries. A retry of an older request counts as new, since its result would be gone. */
const remembered = 4096;
const jsonOf = (bytes: Uint8Array) => samplesJson(readSamples(bytes));

/** A snapshot of a model's weights, and its samplers. */
interface Snapshot {
  readonly of: Frozen;
  readonly weights: SharedWeights<Frozen>;
  readonly samplers: Set<Sampler>;
}
const newSnapshot = (of: Frozen): Snapshot => ({
  of,
  weights: sharedWeights(Promise.resolve(of)),
  samplers: new Set(),
});

/** @param most snapshots kept per model, and most checkpoints open at a time. */
export function samplers(store: Checkpoints, results: Futures, most: number): Samplers {
  const bases = new Map<string, SharedWeights<Model>>();
  const saves = weightsCache<Model>(most);
  const snapshots = new Map<string, Snapshot[]>();

  const made = (
    of: Pick<Sampler, "id" | "base" | "body" | "path">,
    weights: SharedWeights<Source>,
  ): Sampler => ({
    ...of,
    weights,
    known: new Map(),
    ended: new Map(),
    joined: 0,
  });
  async function retire(sampler: Sampler): Promise<void> {
    const { weights } = sampler;
    delete sampler.weights;
    sampler.known.clear();
    await weights?.release();
  }
  const endedOf = ({ ended }: Sampler, client: number): Completions => {
    const found = ended.get(client) ?? completions();
    ended.set(client, found);
    return found;
  };

  return {
    ofBase(of) {
      // all samplers of a base share one model, which stays open
      const weights = bases.get(of.base.name) ?? sharedWeights(of.base.create(1));
      bases.set(of.base.name, weights);
      return made(of, { use: weights.use, release: async () => undefined });
    },
    ofCheckpoint(of, { path, time }) {
      const name = `${path} ${time.getTime()}`;
      const open = async (): Promise<Model> => {
        const saved = await store.find(path);
        if (!isFault(saved) && saved.time.getTime() === time.getTime())
          return await of.base.open(saved.folder);
        throw new WhetstoneError("checkpoint.missing", {
          where: path,
          got: "a checkpoint that was deleted, has expired or was overwritten since",
          expected: "the checkpoint that the sampling session was created for",
          fix: "Create a sampling session for an existing checkpoint.",
        });
      };
      const weights: SharedWeights<Source> = {
        use: (work) => saves.use(name, open, work),
        release: () => saves.close(name),
      };
      return made({ ...of, path }, weights);
    },
    ofSnapshot(of, model, snapshot) {
      const all = snapshots.get(model) ?? [];
      snapshots.set(model, all);
      const last = all.at(-1);
      const one = last?.of === snapshot ? last : newSnapshot(snapshot);
      if (one !== last) all.push(one);
      const oldest = all.length > most ? all.shift() : undefined;
      for (const sampler of oldest?.samplers ?? []) void retire(sampler);
      const release = async (): Promise<void> => {
        one.samplers.delete(sampler);
        if (one.samplers.size === 0) await one.weights.release();
      };
      const sampler = made(of, { use: one.weights.use, release });
      one.samplers.add(sampler);
      return sampler;
    },
    sample(sampler, body) {
      const { weights } = sampler;
      if (!weights) {
        throw new HTTPException(410, {
          message: `the weights of sampling session ${sampler.id} were replaced by newer snapshots: the server keeps ${most} per model. Save weights under a name to keep them.`,
        });
      }
      const number = body.seq_id ?? undefined;
      const digest = digestOf(body);
      const answer = (request: string): SampleFuture => ({
        request_id: request,
        sample_sequence_ids: Array.from({ length: body.num_samples }, (_, i) => `${request}-${i}`),
      });
      const before = number === undefined ? undefined : sampler.known.get(number);
      if (before) {
        if (before.body !== digest) throw clash(`seq_id ${number} of sampling session ${sampler.id}`);
        return answer(before.request);
      }
      if (results.full) throw tooMany();
      const { id, settle } = results.open(0);
      if (number !== undefined) {
        sampler.known.set(number, { body: digest, request: id });
        const [oldest] = sampler.known.keys();
        if (sampler.known.size > remembered && oldest !== undefined) sampler.known.delete(oldest);
      }
      // each request has its own seed; a retry gets the same one
      const seed = `${sampler.id}/${number ?? id}`;
      const work = async (): Promise<Result> => {
        const { contextTokens } = sampler.base;
        const response = await weights.use((source) => sampled(source, body, contextTokens, seed));
        if (isFault(response)) return { kind: "failed", fault: response };
        return { kind: "protobuf", bytes: writeSamples(response), json: jsonOf };
      };
      const told = endedOf(sampler, Math.floor((number ?? 0) / perClient));
      void settle(work).then((result) =>
        told.add(
          result.kind === "protobuf"
            ? {
                state: "finished",
                request_id: id,
                response_payload_uncompressed_size: result.bytes.length,
              }
            : { state: "failed", request_id: id },
        ),
      );
      return answer(id);
    },
    ended: async (sampler, client, cursor, ms) => await endedOf(sampler, client).since(cursor, ms),
    retire,
    forget: (model) => void snapshots.delete(model),
    async close() {
      await Promise.all([...bases.values()].map((weights) => weights.release()));
    },
  };
}
