/** Downloads the files of a checkpoint from its server. */
import { createWriteStream } from "node:fs";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { downloadAdapter, type HeldWeights, unfit } from "./archive.ts";
import { partsOf } from "./serverCheckpoints.ts";
import { reached } from "./session.ts";
import { checked, type TransportOptions, transport } from "./transport.ts";

/** Temporary URLs that need no key, by file name. */
const addresses = z.object({ urls: z.record(z.string(), z.url()) });

/**
 * The files of a checkpoint, if the server provides them unchanged; otherwise its adapter in PEFT's form.
 * @param folder receives the files.
 * @returns the kind of files, and their folder.
 * @throws WhetstoneError `engine.failed`.
 */
export async function downloadWeights(
  options: TransportOptions,
  held: HeldWeights,
  folder: string,
): Promise<{ readonly kind: "checkpoint" | "adapter"; readonly folder: string }> {
  const { model, kind, name } = partsOf(held.path);
  const over = transport(options);
  try {
    await reached(over);
    const where = `training_runs/${model}/checkpoints/${kind}/${name}/external_weights_urls`;
    const answer = await over.send(where, undefined, { misread: [404, 405, 501] });
    if (answer.status >= 300) {
      return { kind: "adapter", folder: await downloadAdapter(over, options, held, folder) };
    }
    const { urls } = checked(where, () => addresses.parse(answer.json));
    for (const [file, url] of Object.entries(urls)) {
      if (basename(file) !== file || file === "..")
        throw unfit(where, `a file called ${JSON.stringify(file)}`);
      const response = await fetch(url);
      if (!response.ok || !response.body) throw unfit(file, `status ${response.status}`);
      await pipeline(Readable.fromWeb(response.body), createWriteStream(join(folder, file)));
    }
    return { kind: "checkpoint", folder };
  } finally {
    over.close();
  }
}
