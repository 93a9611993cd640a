export { type OpenAIServer, type OpenAIServerOptions, openaiServer } from "./openaiServer.ts";
export { type OpenEnvServerOptions, type Served, serveOpenEnv } from "./openenv.ts";
