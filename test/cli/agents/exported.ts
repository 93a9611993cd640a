// Tools of the AI SDK as an export, in a program that has to stay unharmed: it would write a file if it were allowed to.
import { writeFileSync } from "node:fs";
import { tool } from "ai";
import { z } from "zod";

export const tools = {
  lookUp: tool({
    description: "an order by its number",
    inputSchema: z.object({ order: z.number(), items: z.array(z.string()).optional() }),
    execute: async () => "shipped",
  }),
  refund: tool({
    description: "pay several orders back",
    inputSchema: z.object({ orders: z.array(z.number()) }),
    execute: async () => "done",
  }),
};

if (process.env.WHETSTONE_TEST_WRITE) writeFileSync(process.env.WHETSTONE_TEST_WRITE, "harm");
