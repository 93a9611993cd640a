/** Every route of the Tinker server, each with requests that it takes. */
import { z } from "zod";
import type { Endpoint } from "./endpoints.ts";

const ids = (...data: readonly number[]) => ({ data, dtype: "int64", shape: [data.length] });
const floats = (...data: readonly number[]) => ({ data, dtype: "float32", shape: [data.length] });
const input = { chunks: [{ type: "encoded_text", tokens: [10, 11, 12] }] };
const datum = {
  model_input: input,
  loss_fn_inputs: {
    target_tokens: ids(11, 12, 13),
    logprobs: floats(-1, -2, -3),
    advantages: floats(1, 0.5, -1),
  },
};

/** Makes a session, a model and a sampling session for requests to name. */
export async function tinkerEndpoints(
  url: string,
  key: Readonly<Record<string, string>>,
): Promise<readonly Endpoint[]> {
  async function post<T>(path: string, body: object, shape: z.ZodType<T>): Promise<T> {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method: "POST",
      headers: { ...key, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status}: ${await answer.text()}`);
    return shape.parse(await answer.json());
  }
  const { session_id } = await post("/create_session", {}, z.object({ session_id: z.string() }));
  const made = { session_id, model_seq_id: 0, base_model: "tiny", lora_config: { rank: 2 } };
  const { model_id, request_id } = await post(
    "/create_model",
    made,
    z.object({ model_id: z.string(), request_id: z.string() }),
  );
  const sampling = { session_id, sampling_session_seq_id: 0, base_model: "tiny" };
  const { sampling_session_id } = await post(
    "/create_sampling_session",
    sampling,
    z.object({ sampling_session_id: z.string() }),
  );
  const pass = { data: [datum, datum], loss_fn: "importance_sampling", loss_fn_config: null };
  const headers = Object.entries(key).map(([name, value]) => `${name}: ${value}`);
  const checkpoint = `/training_runs/${encodeURIComponent(model_id)}/checkpoints/weights/a`;
  const all: readonly Endpoint[] = [
    { route: "GET /healthz" },
    { route: "POST /client/config", body: { sdk_version: "1" } },
    { route: "POST /telemetry", body: {} },
    { route: "GET /get_server_capabilities" },
    { route: "POST /create_session", body: { tags: ["a"], user_metadata: { a: 1 }, sdk_version: "1" } },
    { route: "POST /session_heartbeat", body: { session_id } },
    { route: "POST /create_model", body: made },
    { route: "POST /get_info", body: { model_id } },
    { route: "POST /forward_backward", body: { model_id, forward_backward_input: pass } },
    { route: "POST /forward", body: { model_id, forward_input: pass } },
    {
      route: "POST /optim_step",
      body: { model_id, adam_params: { learning_rate: 1e-4, beta1: 0.9, beta2: 0.95, eps: 1e-12 } },
    },
    { route: "POST /save_weights", body: { model_id, path: "a", ttl_seconds: 3600, overwrite: true } },
    {
      route: "POST /load_weights",
      body: { model_id, path: `tinker://${model_id}/weights/a`, optimizer: true },
    },
    { route: "POST /save_weights_for_sampler", body: { model_id, path: "b" } },
    { route: "POST /create_sampling_session", body: sampling },
    { route: "POST /join_sampling_session", body: { sampling_session_id } },
    {
      route: "POST /asample",
      body: {
        prompt: input,
        num_samples: 1,
        sampling_params: { max_tokens: 2, seed: 1, stop: ["x"], temperature: 1, top_k: -1, top_p: 1 },
        sampling_session_id,
        prompt_logprobs: true,
        topk_prompt_logprobs: 2,
      },
    },
    { route: "POST /retrieve_future", body: { request_id, allow_metadata_only: false } },
    {
      route: "POST /retrieve_futures",
      body: { target: { sampling_session_id, cloned_sampler_id: 0 }, prev_cursor: 0, timeout: 0 },
    },
    { route: "POST /weights_info", body: { tinker_path: `tinker://${model_id}/weights/a` } },
    { route: "POST /copy_weights", body: { source_path: `tinker://${model_id}/weights/a`, session_id } },
    { route: "GET /training_runs", path: "/training_runs?limit=5&offset=0" },
    { route: "GET /training_runs/:id", path: `/training_runs/${encodeURIComponent(model_id)}` },
    {
      route: "GET /training_runs/:id/checkpoints",
      path: `/training_runs/${encodeURIComponent(model_id)}/checkpoints`,
    },
    { route: "GET /checkpoints", path: "/checkpoints?limit=5&offset=0" },
    { route: "DELETE /training_runs/:id/checkpoints/:kind/:name", path: checkpoint },
    {
      route: "POST /training_runs/:id/checkpoints/:kind/:name/publish",
      path: `${checkpoint}/publish`,
      body: {},
    },
    { route: "GET /files", path: "/files?path=a&file=b&expires=2030-01-01&signature=00" },
    { route: "GET /sessions", path: "/sessions?limit=5&offset=0" },
    { route: "GET /sessions/:id", path: `/sessions/${encodeURIComponent(session_id)}` },
    { route: "GET /samplers/:id", path: `/samplers/${encodeURIComponent(sampling_session_id)}` },
  ];
  return all.map((endpoint) => {
    const [method = "", own = ""] = endpoint.route.split(" ");
    return { ...endpoint, route: `${method} /api/v1${own}`, path: `/api/v1${endpoint.path ?? own}`, headers };
  });
}
