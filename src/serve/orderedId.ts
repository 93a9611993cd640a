/** Ids of what is stored as it comes. */
import { randomUUID } from "node:crypto";

/**
 * 32 hexadecimal digits: the time, then 74 random bits and two that are always the same. Ids of one time lie side by side in an index: a hundred new rows touch
 * a few of its pages in place of a hundred, and each page that is touched is written when they are committed.
 * @param at milliseconds since 1970.
 */
export const orderedId = (at: number): string =>
  Math.floor(at).toString(16).padStart(12, "0") + randomUUID().replaceAll("-", "").slice(12);
