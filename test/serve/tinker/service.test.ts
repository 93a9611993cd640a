import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { service } from "../../../src/serve/tinker/service.ts";

test("a laptop that sleeps loses no session; one that nobody speaks of while it is awake is over", () => {
  mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
  try {
    const api = service({ bases: [], folder: "nowhere" });
    const id = api.createSession(undefined);
    const pass = (seconds: number): void => {
      mock.timers.tick(1000 * seconds);
      api.sweep();
    };
    pass(3600);
    api.heartbeat(id);
    for (let s = 0; s < 300; s += 5) pass(5);
    assert.deepEqual(api.sessions(), [id]);
    pass(5);
    assert.deepEqual(api.sessions(), []);
    assert.throws(() => api.heartbeat(id), /has ended/);
  } finally {
    mock.timers.reset();
  }
});
