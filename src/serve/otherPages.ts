/** What pages of other sites may ask of a server: feedback, where they are listed, and the script that gives it. */
import type { HonoRequest, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { WhetstoneError } from "../core/errors.ts";
import { type Marks, otherPage } from "./asker.ts";
import type { Refused } from "./refusal.ts";

/** All that is open to them. Every other route is closed, new ones included. */
const feedback = "/v1/feedback";
const script = "/v1/feedback.js";

export interface OtherPages {
  /** Why a page of another site is refused; nothing where it may ask. */
  refusedAt(asked: Pick<HonoRequest, "method" | "path">, marks: Marks): Refused | undefined;
  /** Lets listed pages see what they are answered. */
  readonly crossOrigin: MiddlewareHandler;
}

/**
 * @param origins sites whose pages are listed; `*` for all.
 * @throws WhetstoneError `config.invalid` for an origin that no browser says.
 */
export function otherPages(origins: readonly string[]): OtherPages {
  for (const origin of origins) requireOrigin(origin);
  const isListed = (origin: string): boolean => origins.includes("*") || origins.includes(origin);
  return {
    refusedAt({ method, path }, marks) {
      if (method === "GET" && path === script) return undefined;
      if (!isListed(marks.origin ?? "")) {
        return otherPage(marks, "Start the server with --origin to let it give feedback.");
      }
      if (path === feedback && (method === "POST" || method === "OPTIONS")) return undefined;
      return otherPage(marks, `Pages of other sites give feedback, at ${feedback}, and nothing else.`);
    },
    crossOrigin: cors({
      origin: (origin) => (isListed(origin) ? origin : null),
      allowMethods: ["GET", "POST"],
      // a page that may ask at all may ask with any header: those that it asks to send are listed back
      exposeHeaders: ["retry-after"],
      maxAge: 600,
    }),
  };
}

/** Whether a person leaves one page for another: what comes is shown to that person, and not to the page that was left. */
export const isLinkFollowed = ({ method, headers }: Request): boolean =>
  method === "GET" &&
  headers.get("sec-fetch-mode") === "navigate" &&
  headers.get("sec-fetch-dest") === "document";

function requireOrigin(origin: string): void {
  const said = /^https?:/i.test(origin) && URL.canParse(origin) ? new URL(origin).origin : undefined;
  // those of extensions and apps have schemes of their own
  const other = said === undefined && /^[a-z][a-z\d+.-]*:\/\/[^/?#]+$/.test(origin);
  if (origin === "*" || origin === said || other) return;
  throw new WhetstoneError("config.invalid", {
    where: "--origin",
    got: `"${origin}", which no page says that it is of`,
    expected: "scheme, name and port of a site, such as https://app.example.com, or * for all",
    mend: said === undefined ? "Write the whole address." : `Write ${said}.`,
  });
}
