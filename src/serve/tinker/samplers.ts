/** Sampling sessions: where their samples come from, and the requests that they were sent. */
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
import { type Held, held, shelf } from "./opened.ts";
import { digestOf } from "./read.ts";
import { clash, tooMany } from "./refusals.ts";
import { type Source, sampled } from "./sampling.ts";

export interface Sampler {
  readonly id: string;
  readonly base: Base;
  /** Of the checkpoint that it samples from, if it does. */
  readonly path?: string;
  /** Digest of the request that created it. */
  readonly body: string;
  /** Absent once it has made room for newer ones. */
  weights?: Held<Source>;
  /** Numbered requests. */
  readonly known: Map<number, Known>;
  /** What has ended, for each client that shares the session. */
  readonly ended: Map<number, Completions>;
  /** Clients that joined. */
  joined: number;
}

export interface SampleFuture {
  readonly request_id: string;
  readonly sample_sequence_ids: readonly string[];
}

export interface Samplers {
  ofBase(of: Pick<Sampler, "id" | "base" | "body">): Sampler;
  ofCheckpoint(of: Pick<Sampler, "id" | "base" | "body">, saved: Saved): Sampler;
  /** Of the weights that a model had. Samplers of one snapshot share it; a model's oldest snapshot makes room for a new one. */
  ofSnapshot(of: Pick<Sampler, "id" | "base" | "body">, model: string, snapshot: Frozen): Sampler;
  sample(sampler: Sampler, body: SampleRequestBody): SampleFuture;
  /** Requests of one client that have ended since a cursor. */
  ended(sampler: Sampler, client: number, cursor: number, ms: number): ReturnType<Completions["since"]>;
  /** Lets its weights go, after the samples that are under way. */
  retire(sampler: Sampler): Promise<void>;
  /** A model has no snapshots any more. */
  forget(model: string): void;
  /** Lets the weights of bases go. */
  close(): Promise<void>;
}

/** Clients that share a sampling session number their requests from so many times their own number. */
const perClient = 1_000_000_000;
/** A repetition of an older request is a new one: the first one's result would be gone. */
const remembered = 4096;
const jsonOf = (bytes: Uint8Array) => samplesJson(readSamples(bytes));

/** Weights that a model had, and who samples from them. */
interface Snapshot {
  readonly of: Frozen;
  readonly weights: Held<Frozen>;
  readonly samplers: Set<Sampler>;
}
const newSnapshot = (of: Frozen): Snapshot => ({
  of,
  weights: held(Promise.resolve(of)),
  samplers: new Set(),
});

/** @param most snapshots of one model that stay, and checkpoints that are open at a time. */
export function samplers(store: Checkpoints, results: Futures, most: number): Samplers {
  const bases = new Map<string, Held<Model>>();
  const saves = shelf<Model>(most);
  const snapshots = new Map<string, Snapshot[]>();

  const made = (of: Pick<Sampler, "id" | "base" | "body" | "path">, weights: Held<Source>): Sampler => ({
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
      // one model for all that sample from it; it stays
      const weights = bases.get(of.base.name) ?? held(of.base.create(1));
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
          expected: "the one that the sampling session was created for",
          mend: "Create a sampling session for one that is there.",
        });
      };
      const weights: Held<Source> = {
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
          message: `sampling session ${sampler.id} has made room for newer snapshots: ${most} of a model stay. Save weights under a name to keep them.`,
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
      // a seed of its own for each request, the same whenever it is asked again of these weights
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
