import { existsSync } from "node:fs";

/** The first folder of that name and a number that is not there yet: runs/doors-2 beside runs/doors-1. @param from first number. */
export function freeFolder(name: string, from: number): string {
  for (let n = from; ; n++) if (!existsSync(`${name}-${n}`)) return `${name}-${n}`;
}
