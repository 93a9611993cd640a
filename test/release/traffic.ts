/** Traffic under a split, with feedback, as a gateway and its inbox would have recorded it. */
import { randomStream } from "../../src/core/random.ts";
import type { ReceivedSignal, ServedResponse, TrafficSplit, Version } from "../../src/core/served.ts";
import { assign, unitOf } from "../../src/release/split.ts";
import type { TrafficStore, Write } from "../../src/store/trafficStore.ts";

export const version = (id: string): Version => ({
  id,
  name: id,
  backend: { kind: "upstream", url: "http://127.0.0.1:9/v1" },
  created: 0,
});

export interface Traffic {
  readonly sessions: number;
  /** Time of the first session in milliseconds since 1970; one session per second. */
  readonly from: number;
  readonly seed?: number;
  /** Chance of a thumb up, given that there is a thumb at all. */
  readonly liked: (version: string) => number;
  /** Chance of a thumb. Default 1. */
  readonly said?: number;
  readonly failing?: (version: string) => number;
  readonly more?: Partial<ServedResponse>;
}

/** Each session sends one request, and its thumb comes ten seconds later. */
export async function traffic(production: TrafficStore, split: TrafficSplit, of: Traffic): Promise<void> {
  const batch: Write[] = [];
  for (let i = 0; i < of.sessions; i++) {
    const session = `${split.id}-session-${i}`;
    const random = randomStream(of.seed ?? 1).split(session);
    const at = of.from + 1000 * i;
    const response = `r-${session}`;
    const drawn = assign(split, unitOf(split, { session, response }));
    const failed = random.next() < (of.failing?.(drawn.version) ?? 0);
    batch.push({
      kind: "response",
      response: {
        id: response,
        session,
        trajectory: `${session}/0`,
        turn: 0,
        origin: "gateway",
        at,
        ms: 100,
        ...drawn,
        split: split.id,
        model: "m",
        settings: {},
        prompt: [{ role: "user", content: "?" }],
        choices: failed ? [] : [{ message: { role: "assistant", content: "An answer." }, stop: "eos" }],
        status: failed ? "failed" : "complete",
        channels: ["thumbs"],
        tags: {},
        ...of.more,
      },
    });
    if (random.next() >= (of.said ?? 1)) continue;
    const signal: ReceivedSignal = {
      id: `s-${session}`,
      kind: "reaction",
      channel: "thumbs",
      about: [i % 2 === 0 ? { response } : { session }],
      value: random.next() < of.liked(drawn.version) ? 1 : 0,
      source: "user",
      at: at + 10_000,
      received: at + 10_000,
      tags: {},
    };
    batch.push({ kind: "signal", signal });
  }
  await production.write(batch);
}
