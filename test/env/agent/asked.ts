/** Shared by the tests of requests and replies. */
import { type ChatCall, isRefusal, readRequest } from "../../../src/env/agent/request.ts";

/** A parsed request with these fields beside the required ones. */
export const asked = (more: object = {}): ChatCall => {
  const call = readRequest({ model: "m", messages: [{ role: "user", content: "hi" }], ...more });
  if (isRefusal(call)) throw new Error(call.message);
  return call;
};
export const tools = [
  { type: "function", function: { name: "look", parameters: { properties: { item: { type: "string" } } } } },
  { type: "function", function: { name: "wait" } },
];
