export {
  type Budget,
  boundedFetch,
  budget,
  type ChatOptions,
  chatEngine,
  chatModel,
  type Ledger,
  type Limits,
  openLedger,
  type Price,
  type ProviderEncoderOptions,
  providerEncoder,
} from "./chat/index.ts";
export type { Engine, ModelRequest } from "./engine.ts";
export {
  type DecoderConfig,
  type DecoderSize,
  type LocalOptions,
  localEngine,
  smallDecoder,
} from "./local/index.ts";
export { type Reading, type TabularOptions, tabularEngine } from "./tabular/engine.ts";
export { type TinkerOptions, tinkerEngine } from "./tinker/index.ts";
