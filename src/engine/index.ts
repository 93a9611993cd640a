export type { Engine, ModelRequest } from "./engine.ts";
export {
  type DecoderConfig,
  type DecoderSize,
  type LocalOptions,
  localEngine,
  smallDecoder,
} from "./local/index.ts";
export { type TabularOptions, tabularEngine } from "./tabular/engine.ts";
