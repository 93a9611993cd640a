/** Sessions of clients, and the models and sampling sessions that they own. */
import { randomUUID } from "node:crypto";
import type { Known } from "./futures.ts";
import { ended, unknown } from "./refusals.ts";
import type { Sampler, Samplers } from "./samplers.ts";
import type { Trainer } from "./trainer.ts";

export interface Session {
  readonly id: string;
  /** Idempotency key of the request that created it. */
  readonly key: string | undefined;
  /** Time of its last request. */
  lastSeenAt: Date;
  /** The same, in milliseconds that this process was awake. */
  awake: number;
  readonly trainers: Map<string, Trainer>;
  /** Requests that created models, by the model's id. */
  readonly created: Map<string, Known>;
  readonly samplers: Map<string, Sampler>;
}

export interface SessionOptions {
  /** Seconds without a heartbeat after which a session ends and its models are removed. Default 300. */
  readonly sessionSeconds?: number;
  /** Returns a new unique id for sessions and results: letters, digits and dashes. Default: random ids. */
  readonly unique?: () => string;
}

export interface Sessions {
  /** @param key a request with the key of a session that is open creates no other one. @returns the session's id. */
  create(key: string | undefined): string;
  /** An open session, which counts as a request of its client. @throws HTTPException if it has ended or is unknown. */
  use(id: string): Session;
  /** @throws HTTPException if it has ended or is unknown. */
  read(id: string): Session;
  /** Does not count as a request. Undefined: it is not open. */
  find(id: string): Session | undefined;
  trainer(id: string): { readonly session: Session; readonly trainer: Trainer };
  sampler(id: string): Sampler;
  all(): readonly Session[];
  /** Ends a session at once; its models are disposed of when their running operations have ended. */
  end(session: Session): void;
  /** Ends sessions without a recent heartbeat. */
  sweep(): void;
  /** Ended sessions whose models are still being disposed of. */
  ending(): readonly Promise<unknown>[];
}

/** Longest pause between sweeps, in milliseconds, of a process that is awake; after a longer one the machine was asleep. */
const mostPause = 30_000;

export function openSessions(options: SessionOptions, drawn: Pick<Samplers, "forget" | "retire">): Sessions {
  const { sessionSeconds = 300, unique = randomUUID } = options;
  const sessions = new Map<string, Session>();
  /** Ids of ended sessions. */
  const over = new Set<string>();
  const byKey = new Map<string, string>();
  const ending = new Set<Promise<unknown>>();

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
  const read = (id: string): Session => {
    const session = sessions.get(id);
    if (session) return session;
    throw over.has(id) ? ended(id) : unknown("session", id);
  };
  const use = (id: string): Session => {
    const session = read(id);
    if (isSilent(session)) throw ended(id); // the next sweep removes it
    session.lastSeenAt = new Date();
    session.awake = passed();
    return session;
  };
  /** The session that created a model or sampling session; their ids begin with the session's id. */
  const ownerOf = (id: string): Session => use(id.slice(0, Math.max(0, id.indexOf(":"))));

  async function dispose({ trainers, samplers }: Session): Promise<void> {
    await Promise.allSettled(
      [...trainers.values()].map(async (trainer) => {
        await trainer.turns.close();
        drawn.forget(trainer.id);
        await trainer.dispose();
      }),
    );
    // includes samplers that the last operation made
    await Promise.allSettled([...samplers.values()].map(drawn.retire));
  }
  function end(session: Session): void {
    sessions.delete(session.id);
    over.add(session.id);
    if (session.key !== undefined) byKey.delete(session.key);
    const done = dispose(session);
    ending.add(done);
    void done.then(() => ending.delete(done));
  }

  return {
    create(key) {
      const before = key === undefined ? undefined : byKey.get(key);
      if (before !== undefined) return before;
      const id = unique();
      const seen = { lastSeenAt: new Date(), awake: passed() };
      sessions.set(id, { id, key, ...seen, trainers: new Map(), created: new Map(), samplers: new Map() });
      if (key !== undefined) byKey.set(key, id);
      return id;
    },
    use,
    read,
    find: (id) => sessions.get(id),
    trainer(id) {
      const session = ownerOf(id);
      const trainer = session.trainers.get(id);
      if (!trainer) throw unknown("model", id);
      return { session, trainer };
    },
    sampler(id) {
      const sampler = ownerOf(id).samplers.get(id);
      if (!sampler) throw unknown("sampling session", id);
      return sampler;
    },
    all: () => [...sessions.values()],
    end,
    sweep() {
      for (const session of [...sessions.values()]) if (isSilent(session)) end(session);
    },
    ending: () => [...ending],
  };
}
