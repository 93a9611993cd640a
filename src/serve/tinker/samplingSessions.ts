/** Sampling sessions that clients create and share. */
import type * as wire from "../../engine/tinker/protocol.ts";
import type { Completions } from "./completions.ts";
import { baseOf, foundAt, type Output, type ServiceParts } from "./models.ts";
import { digestOf } from "./read.ts";
import { clash, wrong } from "./refusals.ts";
import type { SampleFuture, Samplers } from "./samplers.ts";
import type { Session } from "./sessions.ts";

export interface SamplingSessions {
  createSampler(body: Output<"createSamplingSessionRequest">): Promise<string>;
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
}

export const samplerId = (session: Session, number: number): string => `${session.id}:sample:${number}`;

export function samplingSessions(
  { bases, store, sessions }: ServiceParts,
  drawn: Samplers,
): SamplingSessions {
  return {
    async createSampler(body) {
      const { session_id, sampling_session_seq_id, base_model, model_path } = body;
      const session = sessions.use(session_id);
      const id = samplerId(session, sampling_session_seq_id);
      const digest = digestOf(body);
      const isThere = (): boolean => {
        const before = session.samplers.get(id);
        if (before && before.body !== digest) throw clash(`sampling session ${id}`);
        return before !== undefined;
      };
      if (isThere()) return id;
      const saved = model_path ? await foundAt(store, model_path) : undefined;
      if (isThere()) return id; // created meanwhile
      const name = saved?.about.base_model ?? base_model;
      if (!name) {
        throw wrong(
          "create_sampling_session: got neither a base_model nor a model_path, expected one of them.",
        );
      }
      const of = { id, base: baseOf(bases, name), body: digest };
      session.samplers.set(id, saved ? drawn.ofCheckpoint(of, saved) : drawn.ofBase(of));
      return id;
    },
    sampler(id) {
      const sampler = sessions.sampler(id);
      return {
        sampler_id: id,
        base_model: sampler.base.name,
        ...(sampler.path !== undefined && { model_path: sampler.path }),
      };
    },
    join: (id) => ++sessions.sampler(id).joined,
    sample(body) {
      const { sampling_session_id: id } = body;
      if (!id)
        throw wrong("asample: got no sampling_session_id. Create a sampling session for the model first.");
      return drawn.sample(sessions.sampler(id), body);
    },
    ended: async (id, client, cursor, ms) => await drawn.ended(sessions.sampler(id), client, cursor, ms),
  };
}
