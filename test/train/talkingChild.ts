/** A run of a learner without weights against a provider, in a child process: `node talkingChild.ts '{"root":…}'`. */
import { join } from "node:path";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { budget } from "../../src/engine/chat/budget.ts";
import { chatModel } from "../../src/engine/chat/chat.ts";
import { chatEngine } from "../../src/engine/chat/engine.ts";
import { codewords } from "../../src/env/codewords.ts";
import { gepa } from "../../src/methods/baseline/gepa/method.ts";
import { train } from "../../src/train/run.ts";

export interface TalkingChild {
  readonly root: string;
  readonly url: string;
  readonly resume: boolean;
  readonly calls?: number;
}

const { root, url, resume, calls } = JSON.parse(process.argv[2] ?? "") as TalkingChild;
const provider = createOpenAICompatible({ name: "here", baseURL: url, apiKey: "none" });
const chat = chatModel({
  model: provider("tiny"),
  cache: join(root, "cache"),
  budget: budget(calls === undefined ? {} : { calls }),
  concurrency: 2,
});
const done = await train(
  {
    environment: codewords({ questions: 12, same: true, says: true, length: 2, vocabulary: 3 }),
    method: gepa.build(),
    engine: chatEngine(chat),
    iterations: 5,
    out: join(root, "run"),
    resume,
    evaluation: { tasks: 4, every: 0 },
  },
  () => {},
  new AbortController().signal,
);
console.log(JSON.stringify({ success: done.success.mean, iterations: done.iterations }));
