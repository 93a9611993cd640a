export { boundedFetch } from "./boundedFetch.ts";
export { type Budget, budget, type Limits, type Price } from "./budget.ts";
export { type ChatOptions, chatModel } from "./chat.ts";
export { type ProviderEncoderOptions, providerEncoder } from "./embeddings.ts";
export { chatEngine } from "./engine.ts";
export { type Ledger, openLedger } from "./ledger.ts";
