/** Remembers erased subjects as salted hashes only, so that the store refuses further data about them. */
import { createHmac, randomBytes } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { WhetstoneError } from "../core/errors.ts";
import type { Provenance } from "../core/trainingExamples.ts";
import type { Database } from "./database.ts";
import type { Tables } from "./schema.ts";

/** Something that can be erased. A trajectory is erased with its session. */
export type Subject = "response" | "session" | "trajectory";

/** The store's secret, created on first use. */
export async function secretOf(db: Kysely<Tables>): Promise<Buffer> {
  await db
    .insertInto("settings")
    .values({ name: "secret", value: randomBytes(32).toString("base64") })
    .onConflict((c) => c.column("name").doNothing())
    .execute();
  const { value } = await db
    .selectFrom("settings")
    .select("value")
    .where("name", "=", "secret")
    .executeTakeFirstOrThrow();
  return Buffer.from(value, "base64");
}

/** HMAC-SHA-256 under the store's secret, 128 bits of it. */
export const hashOf = (secret: Buffer, what: string, name: string): string =>
  createHmac("sha256", secret).update(`${what}\0${name}`).digest("base64url").slice(0, 22);

/**
 * Locks out writers during an erasure and erasures during a write, until the transaction ends: PostgreSQL would otherwise accept
 * a row about a subject that is being erased. SQLite has one writer at a time anyway.
 */
export async function heldFor(
  work: "writing" | "erasing",
  { kind }: Pick<Database, "kind">,
  tx: Kysely<Tables>,
): Promise<void> {
  if (kind === "sqlite") return;
  await sql`lock table erased in ${sql.raw(work === "writing" ? "share" : "exclusive")} mode`.execute(tx);
}

/** A subject that may have been erased. */
interface About {
  readonly what: string;
  readonly name: string;
}
/** A subject of data that is about to be written. */
interface Written extends About {
  /** Kind of data that is about to be written, for errors. */
  readonly kind: string;
}

/** The sessions and responses that parts were made from. */
export const sourcesOf = (parts: readonly { readonly from: Provenance }[]) =>
  parts.flatMap(({ from }) => [
    ...from.sessions.map((name) => ({ what: "session", name }) as const),
    ...from.responses.map((name) => ({ what: "response", name }) as const),
  ]);

/** The subjects that have been erased, in no particular order. */
export async function* erasedAmong<T extends About>(
  db: Kysely<Tables>,
  secret: Buffer,
  some: readonly T[],
): AsyncGenerator<T> {
  const subjects = new Map(some.map((one) => [hashOf(secret, one.what, one.name), one] as const));
  const hashes = [...subjects.keys()];
  for (let i = 0; i < hashes.length; i += 1000) {
    const found = await db
      .selectFrom("erased")
      .select("hash")
      .where("hash", "in", hashes.slice(i, i + 1000))
      .execute();
    for (const { hash } of found) yield subjects.get(hash)!;
  }
}

/** @param about called only if anything was erased before. @throws WhetstoneError `store.erased` if one of the subjects was erased. */
export async function requireNoneErased(
  db: Kysely<Tables>,
  secret: Buffer,
  about: () => readonly Written[],
): Promise<void> {
  const any = await db.selectFrom("erased").select("hash").limit(1).executeTakeFirst();
  if (any === undefined) return;
  for await (const subject of erasedAmong(db, secret, about())) {
    throw new WhetstoneError("store.erased", {
      where: `${subject.kind} about ${subject.what} ${subject.name}`,
      got: `a ${subject.what} that was erased`,
      expected: `a ${subject.what} that was not erased`,
      fix: "Do not send it again: the store accepts no more data about erased subjects.",
    });
  }
}
