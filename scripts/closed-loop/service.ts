/** One service with its users: a gateway in front of policies that this process holds, a store behind it. */
import { randomBytes } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeFolder } from "../../src/core/files.ts";
import type { Model } from "../../src/core/model.ts";
import type { Logged } from "../../src/core/served.ts";
import type { Id } from "../../src/core/words.ts";
import { visitorChannels } from "../../src/env/users/visitors.ts";
import { logged } from "../../src/exchange/index.ts";
import { liveVersions, openVersion, policy, serveProduction } from "../../src/serve/gateway/index.ts";
import { openProduction, type Production, recorder } from "../../src/store/index.ts";

export interface Service {
  /** Of the gateway. */
  readonly url: string;
  readonly production: Production;
  /** A further version that can be asked, held under its id. */
  add(id: Id, model: Model, parent?: Id): Promise<void>;
  /** Looks for a new split now, not in a second. */
  refresh(): Promise<void>;
  /** All that was served, with what was said of it, visit by visit. */
  logged(): Promise<readonly Logged[]>;
  close(): Promise<void>;
}

/** Starts with one version, which answers everything. The store is a file of its own that goes when the service does. */
export async function startService(
  first: Id,
  model: Model,
  reply: { readonly tokens: number },
): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), "whetstone-loop-"));
  const production = await openProduction(join(folder, "production.db"));
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
    refresh: versions.refresh,
    async logged() {
      await record.flush();
      const all: Logged[] = [];
      for await (const one of logged(production)) all.push(one);
      // by visit, not by the moment at which each happened to be answered
      return all.sort((a, b) => a.session.localeCompare(b.session, "en", { numeric: true }));
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
