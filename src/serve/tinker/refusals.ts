/** Immediate refusals, with the status codes of the Tinker API. */
import { HTTPException } from "hono/http-exception";

export const unknown = (what: string, id: string): HTTPException =>
  new HTTPException(404, {
    message: `no ${what} ${JSON.stringify(id.slice(0, 200))} here. If the server was started again since, what was not saved is gone: create a new session and load your last checkpoint.`,
  });
export const wrong = (message: string): HTTPException => new HTTPException(400, { message });
export const ended = (id: string): HTTPException =>
  new HTTPException(410, {
    message: `session ${id} has ended, finished or without a heartbeat for too long. Create a new one and load your last checkpoint.`,
  });
export const clash = (what: string): HTTPException =>
  new HTTPException(409, { message: `${what} was sent before with another body. Send each number once.` });
export const tooMany = (): HTTPException =>
  new HTTPException(429, {
    message: "too many requests wait for their results. Wait for some of them, then send this one again.",
  });
