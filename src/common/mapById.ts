import type { Id } from "../core/types.ts";

/** The items by their ids, in their order. Of several with one id, the last. */
export const mapById = <T extends { readonly id: Id }>(items: readonly T[]): Map<Id, T> =>
  new Map(items.map((item) => [item.id, item]));
