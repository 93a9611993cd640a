/** A service with its users: a gateway in front of policies in this process, and a store behind it. */
import { randomBytes } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeFolder } from "../../src/common/files/files.ts";
import type { Model } from "../../src/core/model.ts";
import type { Logged, TrafficSplit } from "../../src/core/served.ts";
import type { Id } from "../../src/core/types.ts";
import { visitorChannels } from "../../src/env/users/visitors.ts";
import { logged } from "../../src/exchange/logged.ts";
import { openVersion } from "../../src/serve/gateway/open.ts";
import { policy } from "../../src/serve/gateway/policy.ts";
import { serveProduction } from "../../src/serve/gateway/server.ts";
import { liveVersions } from "../../src/serve/gateway/versions.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { recorder } from "../../src/store/recorder.ts";
import type { TrafficStore } from "../../src/store/trafficStore.ts";
import type { Answered } from "./learners.ts";

export interface Service {
  /** Address of the gateway. */
  readonly url: string;
  readonly production: TrafficStore;
  /** Adds a version, which is served under its id. */
  add(id: Id, model: Model, parent?: Id): Promise<void>;
  /** Sets the traffic shares from now on. */
  split(id: Id, shares: TrafficSplit["shares"], why: string): Promise<void>;
  /** Responses from a time on (milliseconds since 1970), each with its feedback, in the order of visits. */
  heard(since: number): Promise<readonly Answered[]>;
  /** The same traffic as trajectories and signals for training. */
  logged(since: number): Promise<readonly Logged[]>;
  close(): Promise<void>;
}

/** Starts with one version, which answers everything. The store is a temporary file, deleted with the service. */
export async function startService(
  first: Id,
  model: Model,
  reply: { readonly tokens: number },
): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), "whetstone-loop-"));
  const production = await openTrafficStore(join(folder, "production.db"));
  const record = recorder(production);
  const local: Record<Id, ReturnType<typeof policy>> = {};
  const add: Service["add"] = async (id, held, parent) => {
    local[id] = policy(held, { name: "policy", maxTokens: reply.tokens });
    const backend = { kind: "local", name: id } as const;
    const created = Date.now();
    await production.addVersion({
      id,
      name: id,
      backend,
      created,
      ...(parent === undefined ? {} : { parent }),
    });
  };
  await add(first, model);
  const versions = await liveVersions({
    production,
    open: (version) => openVersion(version, { environment: {}, local }),
    main: first,
  });
  const server = await serveProduction({
    production,
    recorder: record,
    versions,
    signing: randomBytes(32),
    channels: visitorChannels,
  });
  return {
    url: server.url,
    production,
    add,
    async split(id, shares, why) {
      await production.addSplit({ id, shares, unit: "session", since: Date.now(), why });
      await versions.refresh();
    },
    async heard(since) {
      await record.flush();
      const responses = await Array.fromAsync(production.responses({ from: since }));
      const signals = await Array.fromAsync(production.signals({ from: since }));
      const about = Map.groupBy(signals, (signal) => signal.about[0]?.response);
      return responses
        .map((response) => ({ response, signals: about.get(response.id) ?? [] }))
        .sort((a, b) => byVisit(a.response, b.response));
    },
    async logged(since) {
      await record.flush();
      return (await Array.fromAsync(logged(production, { from: since }))).sort(byVisit);
    },
    async close() {
      await server.close();
      await versions.close();
      await record.close();
      await production.close();
      await removeFolder(folder);
    },
  };
}

/** Ordered by visit, not by the time of the answer. */
const byVisit = (a: { readonly session: Id }, b: { readonly session: Id }): number =>
  a.session.localeCompare(b.session, "en", { numeric: true });
