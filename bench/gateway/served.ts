// The gateway in a process of its own, recording into SQLite: prints its URL; for every line that it hears, what it has used.
import { restartForSingleCore } from "../../src/cli/threadPriority.ts";
import { versionOf } from "../../src/serve/gateway/open.ts";
import { serveProduction } from "../../src/serve/gateway/server.ts";
import { upstream } from "../../src/serve/gateway/upstream.ts";
import { liveVersions } from "../../src/serve/gateway/versions.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { recorder } from "../../src/store/recorder.ts";

// as `whetstone serve` does
restartForSingleCore();
const [url = "", store = "", silence = "3600000"] = process.argv.slice(2);
const production = await openTrafficStore(store);
const writing = recorder(production);
// the same one however often it begins on this store
const version = versionOf({ kind: "upstream", url: `${url}/v1` }, 0);
await production.addVersion(version);
const versions = await liveVersions({
  production,
  open: async () => upstream({ url: `${url}/v1` }),
  main: version.id,
});
const server = await serveProduction({
  production,
  recorder: writing,
  versions,
  signing: new Uint8Array(32),
  silence: Number(silence),
  channels: ["thumbs"],
});
console.log(server.url);
let input = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  input += text;
  for (let end = input.indexOf("\n"); end >= 0; end = input.indexOf("\n")) {
    input = input.slice(end + 1);
    globalThis.gc?.();
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed, external } = process.memoryUsage();
    const { lost, recorded, pending } = writing.state();
    console.log(
      JSON.stringify({
        cpuMs: (user + system) / 1000,
        rss,
        heapUsed,
        external,
        lost,
        recorded,
        pending,
        ...server.state(),
      }),
    );
  }
});
process.stdin.on("end", async () => {
  await server.close();
  await versions.close();
  await writing.close();
  await production.close();
  process.exit(0);
});
