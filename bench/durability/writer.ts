/** A process that takes signals and traffic a line at a time, and says what it has taken. It is there to be killed. */
import { createInterface } from "node:readline";
import type { ReceivedSignal, ServedResponse } from "../../src/core/served.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { recorder } from "../../src/store/recorder.ts";

/** A signal waits for its acknowledgement; traffic is recorded without one. */
export type Asked =
  | { readonly signal: string; readonly round: number }
  | { readonly response: string; readonly round: number };

/** `signal`: it is on disk. `refused`: it was not taken. `response`: it was taken at that time, and is not on disk yet. */
export type Said =
  | { readonly ready: true }
  | { readonly signal: string; readonly duplicate: boolean }
  | { readonly refused: string }
  | { readonly response: string; readonly at: number };

/** The key is the client's, the id is new at every try: as the inbox has it. */
function signalOf(key: string, round: number): ReceivedSignal {
  return {
    id: crypto.randomUUID(),
    key,
    kind: "reaction",
    channel: "thumb",
    about: [{ response: `of-${key}` }],
    value: 1,
    source: "user",
    at: round,
    received: round,
    tags: {},
  };
}

function responseOf(id: string, round: number): ServedResponse {
  return {
    id,
    session: `session-${round}`,
    trajectory: `session-${round}/0`,
    turn: 0,
    origin: "gateway",
    at: round,
    ms: 1,
    version: "v1",
    propensity: 1,
    model: "m",
    settings: {},
    prompt: [{ role: "user", content: `asked ${id} `.repeat(20) }],
    choices: [{ message: { role: "assistant", content: `answered ${id} `.repeat(20) }, stop: "eos" }],
    status: "complete",
    channels: ["thumb"],
    tags: {},
  };
}

const say = (said: Said): void => void process.stdout.write(`${JSON.stringify(said)}\n`);

const recording = recorder(await openTrafficStore(process.argv[2]!));
say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line) as Asked;
  if ("response" in asked) {
    recording.record(responseOf(asked.response, asked.round));
    say({ response: asked.response, at: Date.now() });
  } else {
    recording.receive(signalOf(asked.signal, asked.round)).then(
      ({ duplicate }) => say({ signal: asked.signal, duplicate }),
      () => say({ refused: asked.signal }),
    );
  }
}
