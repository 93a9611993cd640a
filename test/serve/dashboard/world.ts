/** The dashboard's routes over a real store, requested as a page does. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Hono } from "hono";
import type { Trajectory, Turn } from "../../../src/core/types.ts";
import { type Gated, gate } from "../../../src/serve/auth.ts";
import { dashboard } from "../../../src/serve/dashboard/index.ts";
import { openRunStore, type RunStart, type RunStore } from "../../../src/store/runStore.ts";
import { memory } from "../memory.ts";

export interface Asked {
  readonly status: number;
  readonly headers: Headers;
}

/** A dashboard without a listening port; its static pages come from an empty folder. */
export async function world(t: { after(work: () => Promise<void>): void }) {
  const folder = mkdtempSync(join(tmpdir(), "dashboard-"));
  const store = await openRunStore(join(folder, "whetstone.sqlite"));
  t.after(() => store.close());
  const production = memory();
  const door = gate({ production: production.production, open: true, signing: randomBytes(32) });
  const app = new Hono<Gated>()
    .use(door.enter)
    .route("/", dashboard({ store, production: production.production, folder, gate: door }));
  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    Promise.resolve(
      app.request(`http://localhost${path}`, {
        ...init,
        headers: { host: "localhost", "content-type": "application/json", ...init.headers },
      }),
    );
  return {
    store,
    folder,
    production,
    request,
    /** The answer of a path, which must be a success. */
    async get<T>(path: string): Promise<T> {
      const answer = await request(path);
      const text = await answer.text();
      assert.equal(answer.status, 200, text);
      const body: T = JSON.parse(text);
      return body;
    },
    /** The error of a path. */
    async refused(path: string, init?: RequestInit): Promise<{ status: number; message: string }> {
      const answer = await request(path, init);
      const body: { error: { message: string } } = JSON.parse(await answer.text());
      return { status: answer.status, message: body.error.message };
    },
  };
}

/** The data of server-sent events, as they arrive; leaving the loop closes the connection. */
export async function* eventsOf<T>(answer: Response): AsyncGenerator<{ event: string; data: T }> {
  assert.ok(answer.body);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) {
        const [, event = ""] = /^event: (.*)$/m.exec(part) ?? [];
        const [, text = "null"] = /^data: (.*)$/m.exec(part) ?? [];
        const data: T = JSON.parse(text);
        yield { event, data };
      }
    }
  } finally {
    await reader.cancel();
  }
}

export const run = (id: string, more: Partial<RunStart> = {}): RunStart => ({
  id,
  name: id,
  env: "facts",
  method: "grpo",
  engine: "tabular",
  seed: 1,
  config: { learningRate: 0.1 },
  folder: join(tmpdir(), "no-such-folder", id),
  ...more,
});

/** A run of several iterations, whose success at iteration k is `success(k)`. */
export async function ran(
  store: RunStore,
  id: string,
  iterations: number,
  success: (k: number) => number,
): Promise<void> {
  await store.startRun(run(id));
  for (let k = 0; k < iterations; k++) {
    await store.saveIteration(id, k, { metrics: { success: success(k), reward: k }, trajectories: [] });
  }
}

/** One turn that says "yes" in two tokens. */
export const turn = (more: Partial<Turn> = {}): Turn => ({
  role: "agent",
  model: "policy",
  version: "v1",
  prompt: [{ role: "user", content: "Is it so?" }],
  action: { role: "assistant", content: "yes" },
  tokens: {
    prompt: Int32Array.of(1, 2),
    action: Int32Array.of(3, 4),
    logp: Float32Array.of(-0.5, Number.NaN),
    behaviour: Float32Array.of(-0.5, Number.NaN),
  },
  spans: {},
  stop: "eos",
  rewards: { outcome: 1 },
  ms: 1,
  ...more,
});

export const trajectory = (id: string, more: Partial<Trajectory> = {}): Trajectory => ({
  id,
  task: "task-1",
  episode: `${id}/e`,
  role: "agent",
  turns: [turn()],
  end: { kind: "done", reason: "answered", success: true },
  origin: "sampled",
  ...more,
});
