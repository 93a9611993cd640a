/** `whetstone serve`: an environment for others to practise in. */
import type { Command } from "commander";
import { serveOpenEnv } from "../serve/openenv.ts";
import { requireEnvironment } from "./catalogue.ts";
import { statedNumber } from "./options.ts";
import { addCommand, type Io } from "./output.ts";

interface ServeOptions {
  readonly openenv: string;
  readonly port: string;
  readonly host: string;
  readonly keyEnv: string;
  readonly sessions: string;
}

export function addServe(program: Command, io: Io): void {
  addCommand(program, "serve", "Serve an environment over OpenEnv, for agents in any language.", [
    "whetstone serve --openenv facts",
    "whetstone serve --openenv ./my-environment.ts --port 8000 --sessions 16",
  ])
    .requiredOption("--openenv <env>", "environment (see whetstone envs), or a module that exports one")
    .option("--port <n>", "0 takes any that is free", "8000")
    .option("--host <address>", "anything but this machine's own address needs a key", "127.0.0.1")
    .option(
      "--key-env <name>",
      "environment variable that holds the key which clients must send",
      "WHETSTONE_KEY",
    )
    .option("--sessions <n>", "episodes at a time", "64")
    .action(async ({ openenv, port, host, keyEnv, sessions }: ServeOptions) => {
      const environment = await requireEnvironment("--openenv", openenv);
      const key = process.env[keyEnv];
      const server = await serveOpenEnv({
        environment,
        host,
        port: statedNumber("--port", port),
        sessions: statedNumber("--sessions", sessions, 1),
        ...(key === undefined ? {} : { key }),
      });
      io.record({ type: "serving", environment: environment.name, url: server.url });
      io.say(`${environment.name} is served at ${server.url} (OpenEnv). Ctrl-C ends it.`);
      const stopped = new Promise<void>((go) => {
        process.once("SIGINT", go);
        process.once("SIGTERM", go);
      });
      await stopped;
      await server.close();
      io.say("Closed.");
    });
}
