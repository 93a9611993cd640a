/** `whetstone dashboard`: runs, and what users said, in a browser. */
import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { Hono } from "hono";
import { oneLine } from "../common/text/oneLine.ts";
import { listen } from "../http/listen.ts";
import { type Gated, gate } from "../serve/auth.ts";
import { builtPages } from "../serve/dashboard/built.ts";
import { dashboard } from "../serve/dashboard/index.ts";
import { failed } from "../serve/failed.ts";
import { inbox } from "../serve/inbox.ts";
import { versionRoutes } from "../serve/versions.ts";
import { openTrafficStore } from "../store/openTrafficStore.ts";
import { recorder } from "../store/recorder.ts";
import { signalled } from "./interrupted.ts";
import { statedNumber } from "./numbers.ts";
import { highestPort } from "./options.ts";
import { addCommand, type Io } from "./output.ts";
import { existingStore, storeOption } from "./runs.ts";

export function addDashboard(program: Command, io: Io): void {
  addCommand(program, "dashboard", "Show runs, feedback and versions in a browser, with live updates.", [
    "whetstone dashboard",
    "whetstone dashboard --store runs/whetstone.sqlite --port 8700",
  ])
    .option(...storeOption)
    .option("--port <n>", "port; 0 takes any free one", "8700")
    .action(async ({ store: file, port }: { store: string; port: string }) => {
      const store = await existingStore(file, "own thread");
      const production = await openTrafficStore(file);
      const writing = recorder(production);
      try {
        // this machine alone is listened to, so that no key is asked for, and no token is ever signed
        const door = gate({ production, open: true, signing: randomBytes(32) });
        const app = new Hono<Gated>()
          .use(door.enter)
          .route("/", inbox({ production, recorder: writing, gate: door }))
          .route("/", versionRoutes({ production, gate: door }))
          .route("/", dashboard({ store, production, folder: await builtPages(), gate: door }))
          .onError(failed((line) => io.error(oneLine(line))));
        const server = await listen((request) => app.fetch(request), {
          port: statedNumber("--port", port, 0, highestPort),
        });
        io.record({ type: "serving", url: server.url });
        io.say(`The dashboard is at ${server.url}. Ctrl-C ends it.`);
        await signalled();
        await server.close();
      } finally {
        await writing.close();
        await production.close();
        await store.close();
      }
    });
}
