/** What was erased is remembered by salted hashes alone, so that nothing more is taken about it. */
import { createHmac, randomBytes } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { WhetstoneError } from "../core/errors.ts";
import type { Database } from "./database.ts";
import type { Tables } from "./schema.ts";

/** Something that can be erased. A trajectory goes with its session. */
export type Subject = "response" | "session" | "trajectory";

/** The store's own secret, made when it is first asked for. */
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
 * Nobody erases while others write, nor the other way round, until the transaction ends: PostgreSQL would let a row in about
 * what is being erased. SQLite has one writer at a time in any case.
 */
export async function heldFor(
  work: "writing" | "erasing",
  { kind }: Pick<Database, "kind">,
  tx: Kysely<Tables>,
): Promise<void> {
  if (kind === "sqlite") return;
  await sql`lock table erased in ${sql.raw(work === "writing" ? "share" : "exclusive")} mode`.execute(tx);
}

/** Something that is about to be written, and one of the subjects that it is about. */
interface About {
  /** What is about to be written, in a word. */
  readonly kind: string;
  readonly what: string;
  readonly name: string;
}

/** @param about asked for only where something was erased. @throws WhetstoneError `store.erased` where some of it was. */
export async function requireNoneErased(
  db: Kysely<Tables>,
  secret: Buffer,
  about: () => readonly About[],
): Promise<void> {
  const any = await db.selectFrom("erased").select("hash").limit(1).executeTakeFirst();
  if (any === undefined) return;
  const subjects = new Map(about().map((one) => [hashOf(secret, one.what, one.name), one] as const));
  const hashes = [...subjects.keys()];
  for (let i = 0; i < hashes.length; i += 1000) {
    const found = await db
      .selectFrom("erased")
      .select("hash")
      .where("hash", "in", hashes.slice(i, i + 1000))
      .limit(1)
      .executeTakeFirst();
    const subject = found && subjects.get(found.hash);
    if (subject === undefined) continue;
    throw new WhetstoneError("store.erased", {
      where: `${subject.kind} about ${subject.what} ${subject.name}`,
      got: `a ${subject.what} that was erased`,
      expected: "one whose data is still kept",
      mend: "Do not send it again: what was erased takes no more data.",
    });
  }
}
