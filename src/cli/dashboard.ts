/** `whetstone dashboard`: the runs of a store in a browser. */
import type { Command } from "commander";
import { listen } from "../env/agent/listen.ts";
import { builtPages, dashboard } from "../serve/dashboard/index.ts";
import { statedNumber } from "./options.ts";
import { addCommand, type Io } from "./output.ts";
import { existingStore, storeOption } from "./runs.ts";

export function addDashboard(program: Command, io: Io): void {
  addCommand(program, "dashboard", "Show runs in a browser, as they go on.", [
    "whetstone dashboard",
    "whetstone dashboard --store runs/whetstone.sqlite --port 8700",
  ])
    .option(...storeOption)
    .option("--port <n>", "0 takes any that is free", "8700")
    .action(async ({ store: file, port }: { store: string; port: string }) => {
      const store = await existingStore(file);
      try {
        const app = dashboard(store, await builtPages());
        const server = await listen((request) => app.fetch(request), { port: statedNumber("--port", port) });
        io.record({ type: "serving", url: server.url });
        io.say(`The dashboard is at ${server.url}. Ctrl-C ends it.`);
        await new Promise<void>((go) => {
          process.once("SIGINT", go);
          process.once("SIGTERM", go);
        });
        await server.close();
      } finally {
        await store.close();
      }
    });
}
