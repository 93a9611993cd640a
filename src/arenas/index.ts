/** The arenas, by name. */
import type { Arena } from "./arena.ts";
import { instructions } from "./instructions/arena.ts";
import { search } from "./search/arena.ts";

export const arenas: readonly Arena[] = [search, instructions];
