/** Malformed and heavy messages to an OpenEnv server, each session on a WebSocket of its own. */
import { once } from "node:events";
import { WebSocket } from "ws";
import { type Random, randomStream } from "../../src/core/random.ts";
import { units } from "./heavy.ts";
import { damaged, deep, mutated, oddJson, oddTexts, pick } from "./odd.ts";
import type { FuzzedServer } from "./servers.ts";

export interface SocketResult {
  readonly sent: number;
  /** By the code of the error, "observation", "state", "closed": how often each was answered. */
  readonly answers: ReadonlyMap<string, number>;
  /** Messages that were neither answered nor closed upon within the patience. */
  readonly hangs: readonly string[];
  /** The longest pause of the server's event loop, computed and by the clock. */
  readonly cpu: number;
  readonly wall: number;
}

const good = [
  { type: "reset", data: { seed: 1 } },
  { type: "reset", data: { split: "train", index: 0 } },
  { type: "step", data: { message: "answer" } },
  { type: "state" },
] as const;
const patience = 20_000;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A message of at most a mebibyte, or a little more. */
function message(random: Random): Uint8Array {
  const plain = JSON.stringify(pick(good, random));
  const long = (): string => {
    const unit = pick(units, random);
    return JSON.stringify(unit.repeat(Math.ceil((1 + random.below(1_000_000)) / unit.length)));
  };
  switch (random.below(9)) {
    case 0:
      return bytes(oddJson(random));
    case 1:
      return damaged(bytes(plain), random);
    case 2:
      return bytes(deep(random));
    case 3:
      return bytes(mutated(plain, random, long));
    case 4:
      return bytes(`{"type":"step","data":{"message":${long()}}}`);
    case 5:
      return bytes(
        `{"type":"reset","data":{${Array.from({ length: 50_000 }, (_, i) => `"k${i}":1`).join(",")}}}`,
      );
    case 6:
      return bytes(JSON.stringify({ type: pick(oddTexts, random), data: pick(oddTexts, random) }));
    case 7:
      return bytes(mutated(plain, random));
    default:
      return bytes(plain);
  }
}

/** Sends one after the other, over a new connection whenever the last was closed. */
export async function fuzzSockets(server: FuzzedServer, count: number, seed: number): Promise<SocketResult> {
  const answers = new Map<string, number>();
  const hangs: string[] = [];
  let socket: WebSocket | undefined;
  await server.pause();
  for (let n = 0; n < count; n++) {
    if (socket === undefined || socket.readyState !== WebSocket.OPEN) {
      socket = new WebSocket(`ws://127.0.0.1:${server.port}/ws`);
      socket.on("error", () => {});
      await once(socket, "open");
    }
    const open = socket;
    const answered = new Promise<string>((resolve) => {
      open.once("message", (data) => resolve(kindOf(String(data))));
      open.once("close", () => resolve("closed"));
      setTimeout(resolve, patience, "hang").unref();
    });
    open.send(message(randomStream(seed).split("message", n)));
    const kind = await answered;
    open.removeAllListeners("message").removeAllListeners("close");
    answers.set(kind, (answers.get(kind) ?? 0) + 1);
    if (kind !== "hang") continue;
    hangs.push(`message ${n}`);
    open.terminate();
  }
  socket?.terminate();
  const { cpu, wall } = await server.pause();
  return { sent: count, answers, hangs, cpu, wall };
}

function kindOf(text: string): string {
  const { type, data } = JSON.parse(text) as {
    readonly type: string;
    readonly data?: { readonly code?: string };
  };
  return data?.code ?? type;
}
