/** Reads a response together with the responses that it continues. */
import type { Kysely } from "kysely";
import type { ServedResponse } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { ResponsesTable, Tables } from "./schema.ts";
import { unpackResponse } from "./served.ts";

/** One query, however long the conversation. */
export async function readResponse(db: Kysely<Tables>, id: Id): Promise<ServedResponse | undefined> {
  const rows = await db
    .withRecursive("chain", (q) =>
      q
        .selectFrom("responses")
        .selectAll()
        .where("id", "=", id)
        .unionAll(q.selectFrom("responses as r").innerJoin("chain", "chain.base", "r.id").selectAll("r")),
    )
    .selectFrom("chain")
    .selectAll()
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  const chain: ResponsesTable[] = [];
  for (let row = byId.get(id); row; row = byId.get(row.base ?? "")) chain.push(row);
  return chain.reduceRight<ServedResponse | undefined>((base, row) => unpackResponse(row, base), undefined);
}
