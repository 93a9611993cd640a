/** What the tests of requests and replies share. */
import { type ChatCall, isRefusal, readRequest } from "../../../src/env/agent/request.ts";

/** A request as it is read, with these fields beside the least there is. */
export const asked = (more: object = {}): ChatCall => {
  const call = readRequest({ model: "m", messages: [{ role: "user", content: "hi" }], ...more });
  if (isRefusal(call)) throw new Error(call.message);
  return call;
};
export const tools = [
  { type: "function", function: { name: "look", parameters: { properties: { item: { type: "string" } } } } },
  { type: "function", function: { name: "wait" } },
];
