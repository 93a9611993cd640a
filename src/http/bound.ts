/** Binds a server to an address. */
import type { Server } from "node:http";
import { WhetstoneError } from "../core/errors.ts";

const refusals: Readonly<Record<string, string>> = {
  EADDRINUSE: "a port that another process listens on (EADDRINUSE)",
  EADDRNOTAVAIL: "an address that is not this machine's (EADDRNOTAVAIL)",
  EACCES: "a port that this user may not open (EACCES)",
};

/**
 * Listens. @param port 0: any free port.
 * @returns its URL, without a trailing slash.
 * @throws WhetstoneError `config.invalid` for an address that is not this machine's, or a port that is taken or invalid.
 */
export async function bound(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // throws if the number is not a valid port
    server.listen(port, host, resolve);
  }).catch((cause: NodeJS.ErrnoException) => {
    throw new WhetstoneError("config.invalid", {
      where: `${host}:${port}`,
      got: refusals[cause.code ?? ""] ?? cause.code ?? cause.message,
      expected: "an address of this machine with a free port",
      fix: "Choose another --port or --host.",
      cause,
    });
  });
  const address = server.address();
  const at = typeof address === "object" && address ? address.port : port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${at}`;
}
