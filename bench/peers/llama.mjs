/** llama.cpp in this process by way of node-llama-cpp: one context, a sequence per prompt, decoded as one batch. */
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { getLlama, JinjaTemplateChatWrapper, LlamaLogLevel } from "node-llama-cpp";

const { values } = parseArgs({ options: { threads: { type: "string", default: "2" } } });
const threads = Number(values.threads);
const llama = await getLlama({
  gpu: false,
  build: "never",
  maxThreads: threads,
  logLevel: LlamaLogLevel.error,
});

let seed = 1;
let model;
let context;
let sequences = [];

/** Continues one prompt by `maxTokens` tokens, whatever they are. */
async function reply(sequence, prompt, maxTokens, temperature) {
  const action = [];
  const options = { temperature, topK: 0, topP: 1, minP: 0, seed: seed++, yieldEogToken: true };
  for await (const token of sequence.evaluate(prompt, options)) {
    action.push(token);
    if (action.length === maxTokens) break;
  }
  return action;
}

const handlers = {
  about: () => ({ versions: { "llama.cpp": llama.llamaCppRelease.release } }),

  /**
   * With `use` threads: on busy machines one is often faster, because threads wait for each other by spinning.
   * `adapter` is a GGUF file. By default keys and values are kept in 16 bits, which is its fastest. With `exact` they
   * stay in 32 bits; that takes attention without its fast kernel as well, which rounds them to 16 whatever the cache is.
   * `parallel` sequences are decoded side by side.
   */
  async open({ file, tokens, use, adapter, exact = false, parallel = 16 }) {
    await context?.dispose();
    await model?.dispose();
    model = await llama.loadModel({ modelPath: file, useMmap: false });
    context = await model.createContext({
      sequences: parallel,
      contextSize: tokens,
      batchSize: 512,
      threads: { ideal: use, min: use },
      ...(adapter && { lora: adapter }),
      ...(exact && {
        flashAttention: false,
        experimentalKvCacheKeyType: "F32",
        experimentalKvCacheValueType: "F32",
      }),
    });
    sequences = Array.from({ length: parallel }, () => context.getSequence());
  },

  /** Tokens of questions, by the file's own chat template and tokenizer. */
  read({ questions }) {
    const { chat_template: template } = model.fileInfo.metadata.tokenizer;
    const wrapper = new JinjaTemplateChatWrapper({ template });
    const chatHistory = (text) => [
      { type: "user", text },
      { type: "model", response: [] },
    ];
    const tokens = questions.map((text) =>
      wrapper.generateContextState({ chatHistory: chatHistory(text) }).contextText.tokenize(model.tokenizer),
    );
    return { tokens };
  },

  /** Log-probabilities of each row's tokens but the first. */
  async logp({ rows }) {
    const options = { temperature: 1, topK: 0, topP: 1, minP: 0 };
    const logp = [];
    for (const row of rows) {
      await sequences[0].clearHistory();
      const asked = row.map((token) => [token, { generateNext: { logits: true, options } }]);
      const said = await sequences[0].controlledEvaluate(asked);
      logp.push(
        row.slice(1).map((token, i) => {
          const { logits } = said[i].next;
          const most = Math.max(...logits.values());
          const total = [...logits.values()].reduce((sum, x) => sum + Math.exp(x - most), 0);
          return logits.get(token) - most - Math.log(total);
        }),
      );
    }
    return { logp };
  },

  async sample({ prompts, maxTokens, times = 1, temperature = 1 }) {
    let tokens = 0;
    let seconds = 0;
    let actions = [];
    for (let i = 0; i < times; i++) {
      for (const sequence of sequences) await sequence.clearHistory();
      const began = performance.now();
      actions = await Promise.all(prompts.map((p, s) => reply(sequences[s], p, maxTokens, temperature)));
      seconds += (performance.now() - began) / 1000;
      for (const action of actions) tokens += action.length;
    }
    return { seconds, tokens, ...(temperature === 0 ? { actions } : {}) };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const request = JSON.parse(line);
    answer = await handlers[request.run](request);
  } catch (e) {
    answer = { error: e instanceof Error ? e.message : String(e) };
  }
  process.stdout.write(`${JSON.stringify(answer ?? {})}\n`);
}
process.exit(0);
