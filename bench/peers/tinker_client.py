"""The tinker SDK's own client against a server of ours: every loss, steps, checkpoints, samples; prints one JSON line."""

import json
import math
import sys

import numpy as np
import tinker
from tinker import types

url, base = sys.argv[1], sys.argv[2]
service = tinker.ServiceClient(base_url=url, api_key="tml-local")
found = {}


def floats(xs):
    return types.TensorData(data=list(xs), dtype="float32", shape=[len(xs)])


def datum(tokens, **inputs):
    targets = types.TensorData(data=tokens[1:], dtype="int64", shape=[len(tokens) - 1])
    return types.Datum(
        model_input=types.ModelInput.from_ints(tokens[:-1]),
        loss_fn_inputs={"target_tokens": targets, **{k: floats(v) for k, v in inputs.items()}},
    )


train = service.create_lora_training_client(base_model=base, rank=4, seed=7).result()
info = train.get_info()
found["info"] = [info.model_data.model_name, info.is_lora, info.lora_rank]

tokens = [10, 20, 30, 40, 50]
plain = datum(tokens, weights=[0, 1, 1, 1])
before = train.forward_backward([plain], "cross_entropy").result()
p = before.loss_fn_outputs[0]["logprobs"].data
found["cross_entropy"] = [before.metrics["loss:sum"], -sum(p[1:])]

A, q = [0.0, 1.0, -2.0, 0.5], [0.0] + [x - 0.5 for x in p[1:]]
r = [math.exp(x - y) for x, y in zip(p, q)]
rows = [datum(tokens, logprobs=q, advantages=A)]
clip = lambda x, lo, hi: min(max(x, lo), hi)
wanted = {
    "importance_sampling": -sum(x * a for x, a in zip(r, A)),
    "ppo": -sum(min(x * a, clip(x, 0.8, 1.2) * a) for x, a in zip(r, A)),
    "cispo": -sum(clip(x, 0.0, 4.0) * a * y for x, a, y in zip(r, A, p)),
    "dro": -sum(a * y - 0.5 * 0.01 * (y - z) ** 2 for a, y, z in zip(A, p, q)),
}
for name, loss in wanted.items():
    found[name] = [train.forward_backward(rows, name).result().metrics["loss:sum"], loss]

# gradients of five passes, in one step; pipelined: nothing is waited for in between
train.optim_step(types.AdamParams(learning_rate=0.0)).result()
steps = []
for _ in range(8):
    steps.append(train.forward_backward([plain], "cross_entropy"))
    train.optim_step(types.AdamParams(learning_rate=1e-2, eps=1e-8))
found["learning"] = [steps[0].result().metrics["loss:sum"], steps[-1].result().metrics["loss:sum"]]

path = train.save_state("middle").result().path
sampler_path = train.save_weights_for_sampler("middle").result().path
ephemeral = train.save_weights_and_get_sampling_client().result()
prompt = types.ModelInput.from_ints(tokens[:2])
params = types.SamplingParams(max_tokens=6, seed=3, temperature=1.0)
one = ephemeral.sample(prompt, 2, params).result()
named = service.create_sampling_client(model_path=sampler_path).result()
other = named.sample(prompt, 2, params).result()
found["same samples"] = [list(s.tokens) for s in one.sequences] == [list(s.tokens) for s in other.sequences]

# log-probabilities of the sampler are those of the trainer
whole = tokens[:2] + list(one.sequences[0].tokens)
scored = ephemeral.compute_logprobs(types.ModelInput.from_ints(whole)).result()
gap = max(abs(a - b) for a, b in zip(scored[2:], one.sequences[0].logprobs))
trained = train.forward([datum(whole)], "cross_entropy").result().loss_fn_outputs[0]["logprobs"].data
gap = max(gap, max(abs(a - b) for a, b in zip(scored[1:], trained)))
found["gap of log-probabilities"] = gap
topk = ephemeral.sample(
    prompt, 1, types.SamplingParams(max_tokens=1), include_prompt_logprobs=True, topk_prompt_logprobs=3
).result()
found["topk"] = [len(x) if x else None for x in topk.topk_prompt_logprobs]
base_client = service.create_sampling_client(base_model=base).result()
found["base samples"] = len(base_client.sample(prompt, 1, params).result().sequences[0].tokens) > 0

# from the checkpoint on, with the optimiser's moments, the same step leads to the same place; without them to another
def next_step(client):
    client.forward_backward([plain], "cross_entropy").result()
    client.optim_step(types.AdamParams(learning_rate=1e-2, eps=1e-8)).result()
    return client.forward([plain], "cross_entropy").result().metrics["loss:sum"]


resumed = service.create_training_client_from_state_with_optimizer(path).result()
fresh = service.create_training_client_from_state(path).result()
found["resumed"] = [next_step(train), next_step(resumed), next_step(fresh)]

try:
    import torch

    def custom(data, logprobs):
        return sum((x * x).sum() for x in logprobs), {"half": 0.5}

    out = train.forward_backward_custom([plain], custom).result()
    now = train.forward([plain], "cross_entropy").result().loss_fn_outputs[0]["logprobs"].data
    found["custom"] = [out.metrics["loss:sum"], float(sum(x * x for x in now))]
    train.optim_step(types.AdamParams(learning_rate=0.0)).result()
except ImportError:
    found["custom"] = "torch is not installed"

# many datums: several requests, put together by the client
many = [datum(tokens, weights=[1, 1, 1, 1])] * 1100
found["chunks"] = len(train.forward(many, "cross_entropy").result().loss_fn_outputs)

errors = {}
for name, call in {
    "unknown loss": lambda: train.forward_backward([plain], "gspo").result(),
    "step after it": lambda: train.optim_step(types.AdamParams(learning_rate=1e-2)).result(),
    "unknown base": lambda: service.create_lora_training_client(base_model="none", rank=4).result(),
    "unknown checkpoint": lambda: service.create_sampling_client(model_path="tinker://x/weights/y").result(),
}.items():
    try:
        call()
        errors[name] = "no error"
    except Exception as e:
        errors[name] = f"{type(e).__name__}: {e}"[:160]
found["errors"] = errors
tiny = types.AdamParams(learning_rate=1e-3)
train.forward_backward([plain], "cross_entropy").result()
found["goes on"] = sorted(train.optim_step(tiny).result().metrics)

full = service.create_lora_training_client(base_model=base, rank=0).result()
found["all weights"] = [full.get_info().is_lora, full.forward_backward([plain], "cross_entropy").result().metrics["loss:sum"]]
rest = tinker.RestClient(base_url=url, api_key="tml-local") if hasattr(tinker, "RestClient") else service.create_rest_client()
found["checkpoints"] = [c.checkpoint_id for c in rest.list_checkpoints(train.model_id).result().checkpoints]
service.close("success").result()
print(json.dumps({k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in found.items()}, indent=1))
