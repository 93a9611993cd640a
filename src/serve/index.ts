export { limitedServer, type ServerLimits } from "../http/server.ts";
export {
  type Caller,
  type Gate,
  type Gated,
  type GateOptions,
  gate,
  type Rates,
  requireKeys,
} from "./auth.ts";
export type { FeedbackBody } from "./feedback.ts";
export * from "./gateway/index.ts";
export { type Acknowledged, type AcknowledgedList, type InboxOptions, inbox } from "./inbox.ts";
export { type KeyBody, keyRoutes, type NewKeyBody, type TokenBody } from "./keyRoutes.ts";
export { type Minted, mintKey, type NewKey, type Only } from "./keys.ts";
export type { Rate } from "./limits.ts";
export { type OpenAIServer, type OpenAIServerOptions, openaiServer } from "./openaiServer.ts";
export { type OpenEnvServerOptions, type Served, serveOpenEnv } from "./openenv.ts";
export type { ChoiceBody, ResponseBody, SessionBody, SessionsBody, TurnBody } from "./records.ts";
export type { ErrorBody, WrongField } from "./refusal.ts";
export { signingSecret } from "./signing.ts";
export * from "./versions.ts";
