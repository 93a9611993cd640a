/** Listens on the loopback interface. */
import { bound } from "./bound.ts";
import { limitedServer } from "./server.ts";

/** Milliseconds for responses in progress when a server closes. */
const grace = 200;

/** A listening server. */
export interface Listening {
  /** Without a trailing slash, e.g. `http://127.0.0.1:40123`. */
  readonly url: string;
  close(): Promise<void>;
}

/** @param port 0: any free port. If `background` is true, the server does not keep the process alive. */
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
