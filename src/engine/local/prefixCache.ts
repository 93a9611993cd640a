/**
 * Keys and values of earlier prompts and replies, for prompts that begin alike: the next turn of a conversation, or the
 * system prompt that many users share. Kept in blocks of tokens, each named by all tokens up to its end, so that a beginning
 * that two conversations share is kept once.
 */
import { hash } from "node:crypto";
import { blockTokens } from "./batchSizes.ts";
import { bytesOfTokens, copyRows, newCache, type Part } from "./cache.ts";
import type { DecoderConfig } from "./config.ts";

export interface PrefixCache {
  /**
   * Copies what is known of a sequence into a slot, from position `from` on, which begins a block. At least one token is left
   * to read, since its scores are needed.
   * @returns the number of positions that the slot now holds.
   */
  restore(tokens: Int32Array, from: number, to: Part, slot: number): number;
  /** Keeps the whole blocks of a sequence whose keys and values a slot holds. The least recently used make room. */
  keep(tokens: Int32Array, of: Part, slot: number): void;
}

/** @param bytes for all blocks. */
export function prefixCache(c: DecoderConfig, bytes: number): PrefixCache {
  const most = Math.floor(bytes / bytesOfTokens(c, blockTokens));
  /** By name, the least recently used first. */
  const blocks = new Map<string, Part>();
  return {
    restore(tokens, from, to, slot) {
      const names = namesOf(tokens.subarray(0, tokens.length - 1));
      const missing = names.findIndex((name) => !blocks.has(name));
      const known = missing < 0 ? names : names.slice(0, missing);
      known.slice(from / blockTokens).forEach((name, i) => {
        const move = { from: 0, to: slot, length: blockTokens, toPlace: from + i * blockTokens };
        copyRows(c, blocks.get(name)!, to, [move]);
      });
      // last block first: a block is of no use without those before it
      for (const name of known.toReversed()) {
        const block = blocks.get(name)!;
        blocks.delete(name);
        blocks.set(name, block);
      }
      return Math.max(from, known.length * blockTokens);
    },
    keep(tokens, of, slot) {
      const names = namesOf(tokens).slice(0, most);
      for (const [i, name] of [...names.entries()].toReversed()) {
        const block = blocks.get(name) ?? newCache(c, 1, blockTokens);
        if (!blocks.delete(name)) {
          copyRows(c, of, block, [{ from: slot, to: 0, length: blockTokens, fromPlace: i * blockTokens }]);
        }
        blocks.set(name, block);
      }
      for (const oldest of blocks.keys()) {
        if (blocks.size <= most) break;
        blocks.delete(oldest);
      }
    },
  };
}

/** The name of each whole block: a digest of all tokens up to its end. */
function namesOf(tokens: Int32Array): string[] {
  const names: string[] = [];
  for (let end = blockTokens; end <= tokens.length; end += blockTokens) {
    const own = tokens.subarray(end - blockTokens, end).join();
    names.push(hash("sha256", `${names.at(-1) ?? ""} ${own}`, "base64"));
  }
  return names;
}
