export type { Answered, Answerer, Call } from "./answerer.ts";
export { type Gateway, type GatewayOptions, gateway } from "./gateway.ts";
export { type Foundations, type Openers, openVersion, versionOf } from "./open.ts";
export { type PolicyOptions, policy } from "./policy.ts";
export type { GatewayState } from "./runningCalls.ts";
export { type ProductionServer, type ProductionServerOptions, serveProduction } from "./server.ts";
export { type Cut, type SessionTable, sessionTable } from "./sessions.ts";
export { type UpstreamOptions, upstream } from "./upstream.ts";
export { type ChosenVersion, type LiveVersions, liveVersions, type VersionOptions } from "./versions.ts";
export {
  hintTag,
  shownTag,
  type WithArtefactOptions,
  withAdditionOnWire,
  withArtefact,
} from "./withArtefact.ts";
