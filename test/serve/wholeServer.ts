/** Everything that `whetstone serve` serves, over a store in a temporary folder. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dashboard } from "../../src/serve/dashboard/index.ts";
import type { Answerer } from "../../src/serve/gateway/answerer.ts";
import { openVersion, versionOf } from "../../src/serve/gateway/open.ts";
import {
  type ProductionServer,
  type ProductionServerOptions,
  serveProduction,
} from "../../src/serve/gateway/server.ts";
import { liveVersions } from "../../src/serve/gateway/versions.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { recorder } from "../../src/store/recorder.ts";
import { openRunStore, type RunStore } from "../../src/store/runStore.ts";
import type { TrafficStore } from "../../src/store/trafficStore.ts";
import { ran } from "./dashboard/world.ts";

export interface WholeServer {
  readonly server: ProductionServer;
  readonly production: TrafficStore;
  readonly store: RunStore;
  /** Id of the live version. */
  readonly version: string;
  close(): Promise<void>;
}

/** @param answerer answers all calls. With a run named "run" on the dashboard. */
export async function wholeServer(
  answerer: Answerer,
  options: Partial<ProductionServerOptions> = {},
  prepare: (production: TrafficStore) => Promise<void> = async () => {},
): Promise<WholeServer> {
  const folder = mkdtempSync(join(tmpdir(), "whetstone-serve-"));
  const where = join(folder, "serve.sqlite");
  const store = await openRunStore(where, "own thread");
  await ran(store, "run", 3, () => 0.5);
  const production = await openTrafficStore(where);
  await prepare(production);
  const writing = recorder(production);
  const version = versionOf({ kind: "local", name: "m" }, 1);
  await production.addVersion(version);
  const openers = { environment: {}, local: { m: answerer }, artefact: production.artefacts.get };
  const versions = await liveVersions({
    production,
    open: (version, on) => openVersion(version, openers, on),
  });
  writeFileSync(join(folder, "index.html"), "<!doctype html>");
  const server = await serveProduction({
    production,
    recorder: writing,
    versions,
    signing: new Uint8Array(32),
    grace: 100,
    pages: (gate) => dashboard({ store, production, folder, gate }),
    ...options,
  });
  return {
    server,
    production,
    store,
    version: version.id,
    async close() {
      await server.close();
      await versions.close();
      await writing.close();
      await production.close();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const hi = JSON.stringify({
  id: "x",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
});

/** Answers "hi" to every call. @param asked called for every call, and for every request of the model list. */
export const alwaysHi = (asked: (what: string) => void = () => {}): Answerer => {
  const chat = async () => {
    asked("chat");
    return {
      status: 200,
      headers: { "content-type": "application/json" },
      body: (async function* () {
        yield new TextEncoder().encode(hi);
      })(),
    };
  };
  return {
    chat,
    others: { "/responses": chat, "/messages": chat, "/messages/count_tokens": chat, "/embeddings": chat },
    models: async () => {
      asked("models");
      return ["m"];
    },
    async close() {},
  };
};
