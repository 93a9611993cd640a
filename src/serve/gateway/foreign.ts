/** What a narrowed key may name of the upstream's: only what the gateway recorded for that key. */
import type { JsonObject } from "../../core/json.ts";
import type { Caller } from "../auth.ts";
import type { Refused } from "../refusal.ts";
import type { ReadBody } from "./azure.ts";
import { namedObjects } from "./namedObjects.ts";

/**
 * The refusal of a narrowed key's request that names what the gateway did not record for this key. The upstream, called with the
 * operator's key, would read it to the caller, whosever it is.
 * @param continues whether `previous_response_id` names a response that was recorded for this key. @param isRecorded of an item's id.
 */
export function foreignTo(
  body: JsonObject,
  continues: boolean,
  isRecorded: (id: string) => boolean,
): Refused | undefined {
  const before = body.previous_response_id ?? null;
  if (before !== null && !continues) return foreign("previous_response_id");
  const named = namedObjects(body).find(({ id }) => !isRecorded(id));
  return named && foreign(named.field);
}

/**
 * The bytes that the upstream gets. The body of a narrowed key, or of one with a budget, is written anew: of a field that stands in it twice,
 * another parser might read the one that was not checked.
 */
export const sentFor = (
  { only, budget }: Pick<Caller, "only" | "budget">,
  { json, bytes }: ReadBody,
): string | Uint8Array => (only || budget ? JSON.stringify(json) : bytes);

const foreign = (field: string): Refused => ({
  status: 403,
  code: "narrowed_key",
  message: `This key is for one session or user, and ${field} names what was not recorded for it here. Send the contents instead, or use a key without this restriction.`,
});
