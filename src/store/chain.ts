/** Reads a response together with the responses that it continues. */
import type { Kysely } from "kysely";
import type { ServedResponse } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { ResponsesTable, Tables } from "./schema.ts";
import { unpackResponse } from "./served.ts";

/** One query, however long the conversation. A chain that leads back into itself, which no store writes, ends there. */
export async function readResponse(db: Kysely<Tables>, id: Id): Promise<ServedResponse | undefined> {
  const rows = await db
    .withRecursive("chain", (q) =>
      q
        .selectFrom("responses")
        .select(["id", "base"])
        .where("id", "=", id)
        .union(
          q.selectFrom("responses as r").innerJoin("chain", "chain.base", "r.id").select(["r.id", "r.base"]),
        ),
    )
    .selectFrom("responses")
    .innerJoin("chain", "chain.id", "responses.id")
    .selectAll("responses")
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  const chain: ResponsesTable[] = [];
  for (let row = byId.get(id); row; row = byId.get(row.base ?? "")) {
    chain.push(row);
    byId.delete(row.id);
  }
  return chain.reduceRight<ServedResponse | undefined>((base, row) => unpackResponse(row, base), undefined);
}
