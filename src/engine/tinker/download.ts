/** The files of a checkpoint, from the server that holds it. */
import { createWriteStream } from "node:fs";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { partsOf } from "./elsewhere.ts";
import { reached } from "./session.ts";
import { checked, failed, type TransportOptions, transport } from "./transport.ts";

/** Addresses that need no key for a while, by the names of files. */
const addresses = z.object({ urls: z.record(z.string(), z.url()) });

/**
 * @param path `tinker://<model>/weights/<name>`.
 * @param folder gets the files, under the server's names.
 * @returns the names.
 * @throws WhetstoneError `engine.failed`.
 */
export async function downloadCheckpoint(
  options: TransportOptions,
  path: string,
  folder: string,
): Promise<string[]> {
  const { model, kind, name } = partsOf(path);
  const over = transport(options);
  try {
    await reached(over);
    const where = `training_runs/${model}/checkpoints/${kind}/${name}/external_weights_urls`;
    const answer = await over.send(where);
    const { urls } = checked(where, () => addresses.parse(answer.json));
    for (const [file, url] of Object.entries(urls)) {
      if (basename(file) !== file || file === "..")
        throw unfit(where, `a file called ${JSON.stringify(file)}`);
      const response = await fetch(url);
      if (!response.ok || !response.body) throw unfit(file, `status ${response.status}`);
      await pipeline(Readable.fromWeb(response.body), createWriteStream(join(folder, file)));
    }
    return Object.keys(urls);
  } finally {
    over.close();
  }
}

const unfit = (where: string, got: string) =>
  failed(where, got, "Download the checkpoint with the server's own tools.");
