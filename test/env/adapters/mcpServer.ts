/** A small MCP server over stdio, with the protocol's own SDK: a drawer of numbers that keeps state and can fail. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "drawer", version: "1" });
const said = (text: string) => ({ content: [{ type: "text" as const, text }] });
let drawer = 0;

server.registerTool(
  "add",
  { description: "adds to the drawer", inputSchema: { amount: z.number() } },
  ({ amount }) => {
    drawer += amount;
    return said(`there are ${drawer} now`);
  },
);
server.registerTool("look", { description: "says what is in the drawer" }, () => said(String(drawer)));
server.registerTool("flood", { description: "says too much" }, () => said("x".repeat(100_000)));
server.registerTool("hang", { description: "never answers" }, () => new Promise(() => {}));
server.registerTool("crash", { description: "ends the server" }, () => process.exit(1));
await server.connect(new StdioServerTransport());
