/** How long sequences may be where nobody says so: what the model was made for, within this machine's memory. */
import { totalmem } from "node:os";
import { join } from "node:path";
import { bytesOfTokens } from "./cache.ts";
import type { DecoderConfig } from "./config.ts";
import { files, readJson } from "./folder.ts";
import { ggufConfig } from "./gguf/config.ts";
import { openGguf } from "./gguf/file.ts";
import { isGguf } from "./gguf/model.ts";
import { fromHuggingFace } from "./huggingFaceConfig.ts";
import { folderOf, type PublishedOptions } from "./locate.ts";
import { activationBytes } from "./packing.ts";

/** Beyond this, attention alone takes most of the time of a CPU. */
const longest = 4096;
/** Below this, few conversations fit; a row that needs more memory than planned is still computed. */
const shortest = 256;
/** Episodes that sample at once by default, each with its own keys and values. */
const rows = 64;
/** Share of the machine's memory for the activations of one sequence, and again for keys and values. */
const share = 1 / 4;

/** The shape of a model, of which nothing else is read. @param from a folder or a GGUF file. */
async function readConfig(from: string): Promise<DecoderConfig> {
  if (!isGguf(from)) return fromHuggingFace(await readJson(from, files.config), join(from, files.config));
  await using file = await openGguf(from);
  // awaited, since the file is closed on return
  return await ggufConfig(file);
}

/**
 * Longest sequence, in tokens: a power of two from 256 to 4096, or what the model itself allows if that is less.
 * @param memory bytes for the activations of one sequence. Default: a quarter of the machine's.
 */
export function plannedContext(config: DecoderConfig, memory = share * totalmem()): number {
  return longestThat(
    config,
    (tokens) => tokens * activationBytes(config, tokens) <= memory && isCached(config, rows, tokens),
  );
}

const isCached = (config: DecoderConfig, rows: number, tokens: number): boolean =>
  rows * bytesOfTokens(config, tokens) <= share * totalmem();

function longestThat(config: DecoderConfig, fits: (tokens: number) => boolean): number {
  let tokens = longest;
  while (tokens > shortest && !fits(tokens)) tokens /= 2;
  return Math.min(tokens, config.contextTokens);
}

/** The same of a model that is here or on the Hub. @throws as `openPublished`. */
export async function contextOf(options: PublishedOptions, memory?: number): Promise<number> {
  return plannedContext(await readConfig(await folderOf(options)), memory);
}

/** Longest conversation, in tokens, with a model that only samples, for so many of them at once. @throws as `openPublished`. */
export async function servedContext(options: PublishedOptions, conversations: number): Promise<number> {
  const config = await readConfig(await folderOf(options));
  return longestThat(config, (tokens) => isCached(config, conversations, tokens));
}
