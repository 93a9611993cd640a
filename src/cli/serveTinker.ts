/** The Tinker API's side of `whetstone serve`: models of this machine, trained and sampled by clients of that API. */
import { makeFolder } from "../common/files/files.ts";
import { oneLine } from "../common/text/oneLine.ts";
import type { FetchProgress } from "../engine/local/hub.ts";
import { type Base, openBase, tinyBase } from "../serve/tinker/bases.ts";
import { tinkerServer } from "../serve/tinker/server.ts";
import { keyIn, servedKey } from "./keyEnv.ts";
import { statedNumber } from "./numbers.ts";
import { highestPort } from "./options.ts";
import { type Io, progressLine } from "./output.ts";

export interface TinkerFlags {
  readonly model?: string;
  readonly port?: string;
  readonly host: string;
  readonly keyEnv?: string;
  readonly allowHost?: readonly string[];
  readonly checkpoints: string;
}

/** Serves until it is told to stop. */
export async function serveTinker(flags: TinkerFlags, io: Io, stopped: () => Promise<void>): Promise<void> {
  const { model, port = "8000", host, keyEnv, checkpoints, allowHost } = flags;
  const key = keyIn(keyEnv, servedKey);
  const number = statedNumber("--port", port, 0, highestPort);
  await makeFolder(checkpoints, "--checkpoints");
  const from = model === undefined ? [await tinyBase(checkpoints)] : model.split(",");
  const bases: Base[] = [];
  for (const one of from) {
    const line = progressLine(io, `Fetching ${one}, MB`);
    const progress = ({ bytes, ofBytes }: FetchProgress): void =>
      line.at(Math.round(bytes / 1e6), Math.round(ofBytes / 1e6));
    bases.push(await openBase(one, { hub: { progress } }));
    line.close();
  }
  const log = (line: string): void => io.error(oneLine(line));
  const options = { bases, folder: checkpoints, host, port: number, log };
  const server = await tinkerServer({
    ...options,
    ...(allowHost && { names: allowHost }),
    ...(key !== undefined && { key }),
  });
  const names = bases.map(({ name }) => name);
  io.record({ type: "serving", api: "tinker", url: server.url, models: names });
  io.say(`${names.join(", ")} served at ${server.url} (Tinker API). Ctrl-C ends it.`);
  const sent = key === undefined ? "tml-local" : `"$${keyEnv ?? servedKey}"`;
  io.say(`  TINKER_BASE_URL=${server.url} TINKER_API_KEY=${sent} python train.py`);
  await stopped();
  const waits = setTimeout(
    () => io.say("Waiting for running computations. Press Ctrl-C again to stop at once."),
    1000,
  );
  await server.close();
  clearTimeout(waits);
  io.say("Closed. Unsaved models were discarded.");
}
