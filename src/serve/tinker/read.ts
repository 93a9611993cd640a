/** What threads and servers share in reading a request. */
import { createHash } from "node:crypto";
import { z } from "zod";

/** Tells a request from another. */
export const digestOf = (body: unknown): string =>
  createHash("sha256")
    .update(body instanceof Uint8Array ? body : JSON.stringify(body))
    .digest("base64");

/** Of a thousand fields that are wrong, the first are told. */
const mostTold = 20;
export const whatIsWrong = ({ issues }: z.ZodError): string =>
  z.prettifyError(new z.ZodError(issues.slice(0, mostTold)));
