/** Traffic and feedback for tests of the store. */
import type { ReceivedSignal, ServedResponse } from "../../src/core/served.ts";

/** Turn `turn` of a conversation: each prompt is the previous one, its reply and a new question. */
export function served(session: string, turn: number, more: Partial<ServedResponse> = {}): ServedResponse {
  const prompt = [{ role: "system" as const, content: `system of ${session}` }];
  const said = (t: number) => [
    { role: "user" as const, content: `question ${t} of ${session}` },
    { role: "assistant" as const, content: `answer ${t} of ${session}` },
  ];
  const history = Array.from({ length: turn }, (_, t) => said(t)).flat();
  const ids = Int32Array.from({ length: 4 + 3 * turn }, (_, i) => i);
  return {
    id: `response-${session}-${turn}`,
    session,
    trajectory: `${session}/0`,
    turn,
    origin: "gateway",
    at: 1000 + turn,
    ms: 12.5,
    version: "v1",
    propensity: 0.25,
    model: "small",
    settings: { temperature: 0.7, stop: ["\n"] },
    prompt: [...prompt, ...history, said(turn)[0]!],
    choices: [
      {
        message: said(turn)[1]!,
        stop: "eos",
        tokens: {
          prompt: ids,
          action: Int32Array.of(ids.length, ids.length + 1),
          logp: Float32Array.of(-0.1, -0.2),
          behaviour: Float32Array.of(-0.1, Number.NEGATIVE_INFINITY),
        },
      },
      { message: { role: "assistant", content: "another" }, stop: "length" },
    ],
    status: "complete",
    usage: { input: 10, output: 2 },
    channels: ["thumb"],
    tags: { app: "test", __proto__x: "kept" },
    ...more,
  };
}

export const signal = (id: string, more: Partial<ReceivedSignal> = {}): ReceivedSignal => ({
  id,
  kind: "reaction",
  channel: "thumb",
  about: [{ response: "response-s-0" }],
  value: 1,
  text: "thumbs_up \u0000 \ud83d\ude00",
  source: "user",
  at: 5,
  received: 6,
  tags: {},
  ...more,
});

export async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const out: T[] = [];
  for await (const row of rows) out.push(row);
  return out;
}
