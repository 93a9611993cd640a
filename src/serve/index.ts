export { type OpenAIServer, type OpenAIServerOptions, openaiServer } from "./openaiServer.ts";
