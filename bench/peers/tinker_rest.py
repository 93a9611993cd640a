"""What the tinker SDK's own client asks of a server beside training: runs, checkpoints, copies, downloads; prints JSON."""

import json
import sys
import urllib.request
from datetime import date

import tinker
from tinker import types

url, base = sys.argv[1], sys.argv[2]
service = tinker.ServiceClient(base_url=url, api_key="tml-local")
found = {}
train = service.create_lora_training_client(base_model=base, rank=4, seed=7).result()
rest = service.create_rest_client()
path = train.save_state("kept", ttl_seconds=7200).result().path
sampler = train.save_weights_for_sampler("drawn").result().path
outside = train.save_weights_external("peft").result().path

run = rest.get_training_run(train.model_id).result()
found["run"] = [run.base_model, run.is_lora, run.lora_rank, run.last_checkpoint.checkpoint_id]
by_path = rest.get_training_run_by_tinker_path(path).result()
found["run by path"] = by_path.training_run_id == train.model_id
found["runs"] = train.model_id in [r.training_run_id for r in rest.list_training_runs(limit=5).result().training_runs]
listed = rest.list_checkpoints(train.model_id).result().checkpoints
found["checkpoints"] = [[c.checkpoint_id, c.checkpoint_type, c.size_bytes > 0, c.expires_at is not None] for c in listed]
found["all checkpoints"] = rest.list_user_checkpoints(limit=2).result().cursor.total_count
weights = rest.get_weights_info_by_tinker_path(path).result()
found["weights"] = [weights.base_model, weights.is_lora, weights.lora_rank]


def of(name):
    return next(c for c in rest.list_checkpoints(train.model_id).result().checkpoints if c.checkpoint_id == name)


rest.set_checkpoint_ttl_from_tinker_path(path, None).result()
found["stays"] = of("weights/kept").expires_at is None
rest.publish_checkpoint_from_tinker_path(path).result()
found["public"] = of("weights/kept").public
rest.unpublish_checkpoint_from_tinker_path(path).result()
found["no longer"] = not of("weights/kept").public

files = rest.get_external_weights_urls(outside).result().urls
found["files"] = {name: len(urllib.request.urlopen(link).read()) for name, link in sorted(files.items())}
config = json.loads(urllib.request.urlopen(files["adapter_config.json"]).read())
found["adapter"] = [config["r"], config["lora_alpha"]]

copied = rest.copy_weights(path, "any-project").result()
again = service.create_training_client_from_state_with_optimizer(copied).result()
found["a copy trains on"] = again.get_info().lora_rank
rest.delete_checkpoint_from_tinker_path(copied).result()

sessions = rest.list_sessions(limit=100).result().sessions
session = rest.get_session(train.model_id.split(":")[0]).result()
found["session"] = [train.model_id.split(":")[0] in sessions, train.model_id in session.training_run_ids]
client = service.create_sampling_client(model_path=sampler).result()
prompt = types.ModelInput.from_ints([10, 20])
params = types.SamplingParams(max_tokens=4, seed=3)
asked = [client.sample(prompt, 4, params) for _ in range(8)]
found["samples"] = [len(a.result().sequences) for a in asked]
copy = tinker.SamplingClient.from_sampler_handle(client.get_sampler_handle(), api_key="tml-local")
found["by handle"] = [list(s.tokens) for s in copy.sample(prompt, 1, params).result().sequences] == [
    list(s.tokens) for s in client.sample(prompt, 1, params).result().sequences
]
found["base of a sampler"] = client.get_base_model()
found["capabilities"] = [m.model_name for m in rest.get_server_capabilities().result().supported_models]

errors = {}
for name, call in {
    "custom loss": lambda: service.create_custom_loss(lambda logprobs: -logprobs.sum(), {}).result(),
    "audit log": lambda: rest.get_audit_log().result(),
    "billing": lambda: rest.get_billing_usage(date(2026, 1, 1), date(2026, 1, 2)).result(),
    "project": lambda: rest.assign_session_project(train.model_id.split(":")[0], "p").result(),
    "trace": lambda: rest.export_session_trace(train.model_id.split(":")[0]).result(),
    "search": lambda: rest.search_sessions(types.SessionSearchRequest()).result(),
    "whoami": lambda: rest.whoami().result(),
    "too short": lambda: rest.set_checkpoint_ttl_from_tinker_path(path, 60).result(),
    "top k of samples": lambda: client.sample(prompt, 1, params, topk_sample_logprobs=2).result(),
}.items():
    try:
        errors[name] = f"served: {type(call()).__name__}"
    except Exception as e:
        errors[name] = f"{type(e).__name__}: {e}"[:150]
found["not served"] = errors
service.close("success").result()
print(json.dumps(found, indent=1))
