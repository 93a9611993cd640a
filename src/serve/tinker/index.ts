export { type Base, type BaseOptions, openBase, tinyBase } from "./bases.ts";
export { type TinkerServer, type TinkerServerOptions, tinkerServer } from "./server.ts";
