// A tiny model behind the endpoint that agents of one's own are given: prints its URL.

import { localEngine } from "../../src/engine/local/index.ts";
import { openaiServer } from "../../src/serve/openaiServer.ts";

const engine = localEngine({
  threads: 1,
  tokenizer: "bytes",
  size: { width: 16, layers: 1, heads: 1, kvHeads: 1, feedForward: 16 },
});
const model = await engine.create({ id: "m", seed: 1, vocabulary: [], contextTokens: 300 });
const { openai } = await openaiServer(model, { key: "fuzz", maxTokens: 4 });
console.log(JSON.stringify({ url: openai.baseURL.replace(/\/v1$/, "") }));
