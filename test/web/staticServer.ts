/** A folder of static files at an address of this machine. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

export interface StaticServer {
  /** With a slash at its end. */
  readonly url: string;
  close(): void;
}

export async function staticServer(folder: string): Promise<StaticServer> {
  const server = createServer(async ({ url: path = "/" }, response) => {
    const name = normalize(decodeURIComponent(new URL(path, "http://page").pathname));
    const file = join(folder, name.endsWith("/") ? `${name}index.html` : name);
    const bytes = await readFile(file).catch(() => undefined);
    response
      .writeHead(bytes ? 200 : 404, { "content-type": types[extname(file)] ?? "text/plain" })
      .end(bytes);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => void server.close(),
  };
}
