/** One HTTP call, over connections that are kept: a third of the processor time that `fetch` takes. */
import { Agent, request } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";

export interface Call {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal;
}

export interface Called {
  readonly status: number;
  /** Content type with its parameters; "" where there is none. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

export interface Http {
  /** @throws whatever breaks the connection, before the answer or in its midst. */
  call(call: Call): Promise<Called>;
  close(): void;
}

const settings = { keepAlive: true, maxSockets: 256 };

export function keptConnections(): Http {
  const [agent, secureAgent] = [new Agent(settings), new SecureAgent(settings)];
  return {
    call({ url, method, headers, body, signal }) {
      const secure = url.startsWith("https:");
      const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
      const options = {
        method,
        signal,
        agent: secure ? secureAgent : agent,
        headers: { ...headers, ...length },
      };
      return new Promise((resolve, reject) => {
        const sent = (secure ? secureRequest : request)(url, options, (answer) => {
          const parts: Buffer[] = [];
          answer.on("data", (part: Buffer) => parts.push(part));
          answer.on("error", reject);
          answer.on("end", () => {
            const { statusCode: status = 0, headers: given } = answer;
            resolve({ status, type: given["content-type"] ?? "", bytes: Buffer.concat(parts) });
          });
        });
        sent.on("error", reject);
        sent.end(body);
      });
    },
    close() {
      agent.destroy();
      secureAgent.destroy();
    },
  };
}

/** The same over another `fetch`. */
export function overFetch(fetched: typeof fetch): Http {
  return {
    async call({ url, ...init }) {
      const answer = await fetched(url, init);
      const bytes = new Uint8Array(await answer.arrayBuffer());
      return { status: answer.status, type: answer.headers.get("Content-Type") ?? "", bytes };
    },
    close: () => undefined,
  };
}
