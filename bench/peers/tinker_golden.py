"""A short session of the tinker SDK's own client, call after call: what test/serve/tinker/golden.data.json was recorded from."""

import sys

import tinker
from tinker import types

url, base = sys.argv[1], sys.argv[2]
service = tinker.ServiceClient(base_url=url, api_key="tml-local")
train = service.create_lora_training_client(base_model=base, rank=4, seed=7).result()
train.get_info()
tokens = [10, 20, 30, 40, 50]


def floats(xs):
    return types.TensorData(data=list(xs), dtype="float32", shape=[len(xs)])


def datum(**inputs):
    targets = types.TensorData(data=tokens[1:], dtype="int64", shape=[len(tokens) - 1])
    return types.Datum(
        model_input=types.ModelInput.from_ints(tokens[:-1]),
        loss_fn_inputs={"target_tokens": targets, **{k: floats(v) for k, v in inputs.items()}},
    )


plain = datum(weights=[0, 1, 1, 0.5])
p = train.forward([plain], "cross_entropy").result().loss_fn_outputs[0]["logprobs"].data
rows = [datum(logprobs=[x - 0.3 for x in p], advantages=[0.0, 1.0, -2.0, 0.5])]
train.forward_backward([plain, plain], "cross_entropy").result()
train.forward_backward(rows, "importance_sampling").result()
train.forward_backward(rows, "ppo", {"clip_low_threshold": 0.9, "clip_high_threshold": 1.1}).result()
train.forward_backward(rows, "cispo").result()
train.forward_backward(rows, "dro", {"beta": 0.05}).result()
train.forward_backward_custom([plain], lambda data, logprobs: (sum((x * x).sum() for x in logprobs), {})).result()
train.optim_step(types.AdamParams(learning_rate=1e-2, eps=1e-8, grad_clip_norm=1.0)).result()
path = train.save_state("golden").result().path
resumed = service.create_training_client_from_state_with_optimizer(path).result()
resumed.forward_backward([plain], "cross_entropy").result()
resumed.optim_step(types.AdamParams(learning_rate=1e-2, eps=1e-8)).result()
train.load_state(path).result()
sampler_path = train.save_weights_for_sampler("golden").result().path
params = types.SamplingParams(max_tokens=6, seed=3, temperature=1.0)
prompt = types.ModelInput.from_ints(tokens[:2])
train.save_weights_and_get_sampling_client().result().sample(prompt, 2, params).result()
named = service.create_sampling_client(model_path=sampler_path).result()
named.sample(prompt, 1, params, include_prompt_logprobs=True, topk_prompt_logprobs=2).result()
named.compute_logprobs(types.ModelInput.from_ints(tokens)).result()
service.close("success").result()
