/** A gateway over a store of its own, in front of a server of ours: for benches that let programs of others call it. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openVersion, versionOf } from "../src/serve/gateway/open.ts";
import { type ProductionServer, serveProduction } from "../src/serve/gateway/server.ts";
import { liveVersions } from "../src/serve/gateway/versions.ts";
import { openTrafficStore } from "../src/store/openTrafficStore.ts";
import { recorder } from "../src/store/recorder.ts";
import type { TrafficStore } from "../src/store/trafficStore.ts";

export interface RecordingGateway {
  readonly gateway: ProductionServer;
  readonly production: TrafficStore;
  /** Of the server behind it, with `/v1`. */
  readonly upstream: string;
  close(): Promise<void>;
}

export async function recordingGateway(answer: RequestListener): Promise<RecordingGateway> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const folder = mkdtempSync(join(tmpdir(), "whetstone-recording-"));
  const production = await openTrafficStore(join(folder, "store.sqlite"));
  const writing = recorder(production);
  await production.addVersion(versionOf({ kind: "upstream", url: upstream }, 0));
  const versions = await liveVersions({
    production,
    open: (version) => openVersion(version, { environment: {}, clientKeysFor: upstream }),
  });
  const gateway = await serveProduction({
    production,
    recorder: writing,
    versions,
    signing: randomBytes(32),
  });
  return {
    gateway,
    production,
    upstream,
    async close() {
      await gateway.close();
      await versions.close();
      await writing.close();
      await production.close();
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
}
