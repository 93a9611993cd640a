/** Request helpers shared by the server and its worker thread. */
import { createHash } from "node:crypto";
import { z } from "zod";

/** Digest of a body, which tells a retry from another request. */
export const digestOf = (body: unknown): string =>
  createHash("sha256")
    .update(body instanceof Uint8Array ? body : JSON.stringify(body))
    .digest("base64");

/** Most invalid fields that a response names. */
const mostTold = 20;
export const whatIsWrong = ({ issues }: z.ZodError): string =>
  z.prettifyError(new z.ZodError(issues.slice(0, mostTold)));
