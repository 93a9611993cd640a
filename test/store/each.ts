/** Runs the same tests on both databases. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { atEnd } from "../room.ts";
import { type Server, startPostgres } from "./postgres.ts";

export type Kind = "SQLite" | "PostgreSQL";

export const folder = mkdtempSync(join(tmpdir(), "whetstone-store-"));
let files = 0;
/** A path in a folder that does not exist yet. */
export const freshFile = (): string => join(folder, `${files++}`, "whetstone.sqlite");

let server: Promise<Server | string> | undefined;
/** This process's PostgreSQL server, or the reason why there is none. */
export const postgres = (): Promise<Server | string> => (server ??= startPostgres());

atEnd(async () => {
  const started = await server;
  if (typeof started === "object") await started.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** @param work receives a file or a URL of an empty database. */
export function onEach(title: string, work: (where: string, kind: Kind) => Promise<void>): void {
  test(`SQLite: ${title}`, () => work(freshFile(), "SQLite"));
  test(`PostgreSQL: ${title}`, async (t) => {
    const started = await postgres();
    if (typeof started === "string") return t.skip(started);
    await work(await started.database(), "PostgreSQL");
  });
}
