/** Cross-origin access: listed sites may send feedback, and every site may load the feedback script. */
import type { HonoRequest, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { WhetstoneError } from "../core/errors.ts";
import type { Refused } from "./refusal.ts";
import { otherPage, type RequestOrigin } from "./requestOrigin.ts";

/** The only path open to other sites. Every other route is closed, including routes added later. */
const feedback = "/v1/feedback";
const script = "/v1/feedback.js";

export interface OtherPages {
  /** Why a page of another site is refused; nothing if the request is allowed. */
  refusedAt(asked: Pick<HonoRequest, "method" | "path">, marks: RequestOrigin): Refused | undefined;
  /** CORS middleware: lets listed pages read responses. */
  readonly crossOrigin: MiddlewareHandler;
}

/**
 * @param origins sites whose pages are listed; `*` for all.
 * @throws WhetstoneError `config.invalid` for an origin that no browser sends.
 */
export function otherPages(origins: readonly string[]): OtherPages {
  for (const origin of origins) requireOrigin(origin);
  const isListed = (origin: string): boolean => origins.includes("*") || origins.includes(origin);
  return {
    refusedAt({ method, path }, marks) {
      if (method === "GET" && path === script) return undefined;
      if (!isListed(marks.origin ?? "")) {
        return otherPage(marks, "Start the server with --origin to let the page send feedback.");
      }
      if (path === feedback && (method === "POST" || method === "OPTIONS")) return undefined;
      return otherPage(marks, `They may only send feedback, at ${feedback}.`);
    },
    crossOrigin: cors({
      origin: (origin) => (isListed(origin) ? origin : null),
      allowMethods: ["GET", "POST"],
      // an allowed page may send any header: the requested headers are echoed
      exposeHeaders: ["retry-after"],
      maxAge: 600,
    }),
  };
}

/** Whether the request is a top-level navigation: the person sees the response, the page that was left cannot read it. */
export const isLinkFollowed = ({ method, headers }: Request): boolean =>
  method === "GET" &&
  headers.get("sec-fetch-mode") === "navigate" &&
  headers.get("sec-fetch-dest") === "document";

function requireOrigin(origin: string): void {
  const said = /^https?:/i.test(origin) && URL.canParse(origin) ? new URL(origin).origin : undefined;
  // origins of extensions and apps have other schemes
  const other = said === undefined && /^[a-z][a-z\d+.-]*:\/\/[^/?#]+$/.test(origin);
  if (origin === "*" || origin === said || other) return;
  throw new WhetstoneError("config.invalid", {
    where: "--origin",
    got: `"${origin}", which no browser sends as an origin`,
    expected: "scheme, name and port of a site, such as https://app.example.com, or * for all",
    fix: said === undefined ? "Write the whole address." : `Write ${said}.`,
  });
}
