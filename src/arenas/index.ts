/** The arenas, by name. */
import type { Arena } from "./arena.ts";
import { search } from "./search/arena.ts";

export const arenas: readonly Arena[] = [search];
