/** A provider with a scripted model behind the project's own OpenAI-compatible endpoint; it counts the charged calls. */
import { after } from "node:test";
import type { Message } from "../../src/core/types.ts";
import { type Backend, endpoint } from "../../src/env/agent/endpoint.ts";
import type { ChatCall } from "../../src/env/agent/request.ts";
import { listen } from "../../src/http/listen.ts";

/** The expected API key. */
export const scriptedKey = "none";
/** Tokens that it charges for each call, whatever the content. */
export const charged = { input: 10, output: 5 } as const;

/** The reply to a request, given its messages and the seed. */
export type Script = (messages: readonly Message[], seed: number) => string;

export interface ScriptedProvider {
  /** The base URL. */
  readonly url: string;
  /** Every answered request, in order, as JSON. */
  readonly paid: readonly string[];
  /** Called for each answer, while it is sent, with the number of answers so far. */
  whenPaid(heard: (count: number) => void): void;
}

/** Serves until the tests of the file end. */
export async function scriptedProvider(script: Script): Promise<ScriptedProvider> {
  const paid: string[] = [];
  let onPaid = (_count: number): void => {};
  const backend: Backend = {
    key: scriptedKey,
    model: "tiny",
    created: () => 1,
    async complete(call: ChatCall) {
      const count = paid.push(JSON.stringify(call));
      setImmediate(() => onPaid(count));
      const [prompt, action] = [new Int32Array(charged.input), new Int32Array(charged.output)];
      const logp = new Float32Array(charged.output);
      return {
        kind: "completed",
        id: `${count}`,
        completions: [
          {
            text: script(call.messages, call.seed ?? 0),
            stop: "eos",
            sampled: { tokens: { prompt, action, logp, behaviour: logp }, pieces: () => [] },
          },
        ],
      };
    },
  };
  const app = endpoint(() => backend);
  const { url, close } = await listen((request) => app.fetch(request), { background: true });
  after(close);
  return {
    url: `${url}/v1`,
    paid,
    whenPaid: (heard) => {
      onPaid = heard;
    },
  };
}

/**
 * Plays codes of two words out of three: guesses any, by the seed, that no line such as "not w1 at 2" excludes. When asked
 * to reflect, it lists what was excluded.
 */
export const codebreaker: Script = (messages, seed) => {
  const text = messages.map(({ content }) => content).join("\n");
  const blamed = new Set(text.match(/w\d at \d/g) ?? []);
  if (text.includes("Improve what an agent is told")) return `\`\`\`\nnot ${[...blamed].join(" , ")}\n\`\`\``;
  const code = [1, 2].map((place) => {
    const left = ["w0", "w1", "w2"].filter((word) => !blamed.has(`${word} at ${place}`));
    return left[seed % left.length] ?? "w0";
  });
  return code.join(" ");
};
