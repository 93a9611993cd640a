/** A server that has its address. */
import type { Server } from "node:http";
import { WhetstoneError } from "../core/errors.ts";

/**
 * Listens. @param port 0: any that is free.
 * @returns its URL, without a slash at its end.
 * @throws WhetstoneError `config.invalid` for an address that is not this machine's, or a port that is taken or none.
 */
export async function bound(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // throws where the number is no port
    server.listen(port, host, resolve);
  }).catch((cause: NodeJS.ErrnoException) => {
    throw new WhetstoneError("config.invalid", {
      where: `${host}:${port}`,
      got: cause.code ?? cause.message,
      expected: "an address of this machine with a port that is free",
      mend: "Choose another --port or --host.",
      cause,
    });
  });
  const address = server.address();
  const at = typeof address === "object" && address ? address.port : port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${at}`;
}
