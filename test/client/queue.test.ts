import { test } from "node:test";
import { requireAllSettled } from "./interleavings.ts";

test("whatever comes between, every signal is settled, none is lost or doubled, and the order is kept", async () => {
  // bench/client-queue.ts has many more
  await requireAllSettled(200, 1);
});
