/** The arenas, by name. */
import type { Arena } from "./arena.ts";
import { orders } from "./orders/arena.ts";
import { programs } from "./programs/arena.ts";
import { search } from "./search/arena.ts";

export const arenas: readonly Arena[] = [search, orders, programs];
