/** The arenas, by name. */
import type { Arena } from "./arena.ts";
import { instructions } from "./instructions/arena.ts";
import { orders } from "./orders/arena.ts";
import { programs } from "./programs/arena.ts";
import { search } from "./search/arena.ts";
import { trail } from "./trail/arena.ts";

export const arenas: readonly Arena[] = [search, trail, programs, instructions, orders];
