import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mock, test } from "node:test";
import { sampleRequest } from "../../../src/engine/tinker/protocol.ts";
import { openBase, tinyBase } from "../../../src/serve/tinker/bases.ts";
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

test("a service that closes lets the samples end that are being drawn, of the base too", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tinker-"));
  const base = await openBase(await tinyBase(folder), { threads: 1 });
  const api = service({ bases: [base], folder });
  const session_id = api.createSession(undefined);
  const sampling_session_id = await api.createSampler({
    session_id,
    sampling_session_seq_id: 0,
    base_model: base.name,
  });
  const prompt = { chunks: [{ type: "encoded_text", tokens: [1] }] };
  const asked = { sampling_session_id, prompt, num_samples: 64, sampling_params: { max_tokens: 200 } };
  const { request_id } = api.sample(sampleRequest.parse(asked));
  assert.equal((await api.futures.poll(request_id, 0)).kind, "pending");
  await api.close();
  assert.equal((await api.futures.poll(request_id, 0)).kind, "protobuf");
  await rm(folder, { recursive: true });
});
