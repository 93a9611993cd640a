/** Time-ordered ids for stored rows. */
import { randomUUID } from "node:crypto";

/**
 * 32 hexadecimal digits: the time, then 74 random bits and two constant bits. Ids of one time are adjacent in an index, so a
 * hundred new rows dirty a few index pages instead of a hundred, and each dirty page is written at commit.
 * @param at milliseconds since 1970.
 */
export const orderedId = (at: number): string =>
  Math.floor(at).toString(16).padStart(12, "0") + randomUUID().replaceAll("-", "").slice(12);
