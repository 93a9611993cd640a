/** Listens on the loopback interface. */
import { bound } from "./bound.ts";
import { limitedServer } from "./server.ts";

/** Milliseconds for answers that are on their way when a server closes. */
const grace = 200;

/** A server that answers. */
export interface Listening {
  /** Without a slash at its end, e.g. `http://127.0.0.1:40123`. */
  readonly url: string;
  close(): Promise<void>;
}

/** @param port 0: any that is free. The server alone keeps no process alive where `background` is true. */
export async function listen(
  answer: (request: Request) => Response | Promise<Response>,
  { port = 0, background = false }: { readonly port?: number; readonly background?: boolean } = {},
): Promise<Listening> {
  const server = limitedServer(answer);
  if (background) {
    server.unref();
    server.on("connection", (socket) => socket.unref());
  }
  return {
    url: await bound(server, "127.0.0.1", port),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), grace).unref();
      }),
  };
}
