/** Calls in Azure's form: other paths, and in one of them the model's name in the path instead of the body. */
import type { Context } from "hono";
import { type Json, objectOf } from "../../core/json.ts";
import { isRefused, type Refused } from "../refusal.ts";

/** Base paths of Azure's clients, of its first API with a deployment and of its later ones. */
export const azurePaths = ["/openai/v1", "/openai/deployments/:deployment", "/openai"] as const;

/** A request's JSON and bytes. */
export interface ReadBody {
  readonly json: Json;
  readonly bytes: Uint8Array;
}

/** A body that names no model gets the name of the deployment that the path names. */
export async function inDeployment(
  c: Context,
  reading: Promise<ReadBody | Refused>,
): Promise<ReadBody | Refused> {
  const read = await reading;
  const deployment = c.req.param("deployment");
  if (isRefused(read) || deployment === undefined) return read;
  const body = objectOf(read.json);
  if (!body || body.model !== undefined) return read;
  const json = { ...body, model: deployment };
  return { json, bytes: Buffer.from(JSON.stringify(json)) };
}
