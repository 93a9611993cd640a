/** The part of the store's contract that the inbox needs, in memory: for tests without a database. */
import type { AccessKey, ReceivedSignal, ServedResponse } from "../../src/core/served.ts";
import type { SignalFilter, Written } from "../../src/store/trafficStore.ts";

export function memory(responses: readonly ServedResponse[] = []) {
  const keys = new Map<string, AccessKey>();
  const kept: ReceivedSignal[] = [];
  /** Thrown by the next write. */
  const state: { failing?: Error } = {};
  const keep = (signal: ReceivedSignal): Written => {
    const known = kept.find((s) => s.key !== undefined && s.key === signal.key);
    if (known) return { id: known.id, duplicate: true };
    kept.push(signal);
    return { id: signal.id, duplicate: false };
  };
  const about = (signal: ReceivedSignal, { session, response }: SignalFilter): boolean =>
    (session === undefined || signal.about.some((t) => t.session === session)) &&
    (response === undefined || signal.about.some((t) => t.response === response));
  return {
    kept,
    state,
    recorder: {
      async receive(signal: ReceivedSignal) {
        if (state.failing) throw state.failing;
        return keep(signal);
      },
      async receiveAll(signals: readonly ReceivedSignal[]) {
        if (state.failing) throw state.failing;
        return signals.map(keep);
      },
      async tried() {},
    },
    production: {
      keys: async () => [...keys.values()],
      putKey: async (key: AccessKey) => void keys.set(key.id, key),
      response: async (id: string) => responses.find((r) => r.id === id),
      async *responses({ session }: { session?: string } = {}) {
        yield* responses.filter((r) => session === undefined || r.session === session);
      },
      async *signals(filter: SignalFilter = {}) {
        yield* kept.filter((s) => about(s, filter));
      },
      async *traced() {},
      async *completeSessions({ session }: { session?: string } = {}) {
        const own = responses.filter((r) => session === undefined || r.session === session);
        for (const [id, said] of Map.groupBy(own, (r) => r.session)) {
          const signals = kept.filter(
            (s) => about(s, { session: id }) || said.some((r) => about(s, { response: r.id })),
          );
          yield { id, responses: said, signals, matching: new Set(said.map((r) => r.id)) };
        }
      },
      sessions: async () => [],
      heads: async () => [],
      // a dollar for each token that is read, two for each that is written
      prices: async () => [{ id: "*", input: 1e6, output: 2e6 }],
      versions: async () => [],
      splits: async () => [],
      artefacts: {
        add: async () => true,
        get: async () => undefined,
        list: async () => [],
        async measure() {},
        measures: async () => [],
        async addFolder() {},
      },
    },
  };
}

/** A served reply. */
export function served(more: Partial<ServedResponse> & Pick<ServedResponse, "id">): ServedResponse {
  return {
    session: "s1",
    trajectory: "s1/0",
    turn: 0,
    origin: "gateway",
    at: 1000,
    ms: 5,
    version: "v1",
    propensity: 1,
    model: "m",
    settings: {},
    prompt: [{ role: "user", content: "hello" }],
    choices: [{ message: { role: "assistant", content: "hi" }, stop: "eos" }],
    status: "complete",
    channels: ["reaction"],
    tags: {},
    ...more,
  };
}
