/** Serves the dashboard's built files, with a content-security policy that blocks all other scripts. */
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { WhetstoneError } from "../../core/errors.ts";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".woff2": "font/woff2",
};

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const headers = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

/** Paths with their scripts, as the build wrote them: `:name` stands for any part of a path. */
async function scriptsOfPages(folder: string): Promise<readonly (readonly [path: RegExp, link: string])[]> {
  const text = await readFile(join(folder, "scripts.json"), "utf8").catch(() => "{}");
  const scripts: Readonly<Record<string, readonly string[]>> = JSON.parse(text);
  return Object.entries(scripts).map(([path, files]) => [
    new RegExp(`^${path.replaceAll(/:[a-z]+/g, "[^/]+")}/?$`),
    files.map((file) => `</${file}>; rel=modulepreload`).join(", "),
  ]);
}

/** Serves index.html at every path that is not a file: its script reads the path. @param folder of the built files. */
export function dashboardPages(folder: string): Hono {
  const pages = new Hono();
  let scripts: ReturnType<typeof scriptsOfPages> | undefined;
  pages.use("/assets/*", compress());
  pages.get("/assets/:file{[A-Za-z0-9_.-]+}", async (c) => {
    const file = c.req.param("file");
    const body = await readFile(join(folder, "assets", file)).catch(() => undefined);
    if (body === undefined) return c.notFound();
    const type = types[extname(file)] ?? "application/octet-stream";
    // file names contain a hash of the content
    return c.body(body, 200, {
      ...headers,
      "content-type": type,
      "cache-control": "max-age=31536000, immutable",
    });
  });
  pages.get("*", async (c) => {
    const page = await readFile(join(folder, "index.html")).catch((cause: unknown) => {
      throw new WhetstoneError("config.invalid", {
        where: "dashboard",
        got: `no page in ${folder}`,
        expected: "the built dashboard",
        fix: "Run npm run build.",
        cause,
      });
    });
    // a page's own scripts load with the first ones, which would else have to run before they are asked for
    scripts ??= scriptsOfPages(folder);
    const link = (await scripts).find(([path]) => path.test(c.req.path))?.[1];
    if (link) c.header("link", link);
    return c.body(page, 200, { ...headers, "content-type": types[".html"]!, "cache-control": "no-cache" });
  });
  return pages;
}
