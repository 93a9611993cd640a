"""Writes a Llama as the Qwen2 that it equals: biases of 0.

With adapters enabled on a Llama, vLLM 0.24.0 fails on a CPU at log-probabilities of several prompts at once, and not on a
Qwen2, whose output layer takes none: "einsum(): subscript b has size 6 for operand 1 which does not broadcast with previously
seen size 7" (add_lora_logits in punica_cpu.py), since it counts the rows that are sampled and not those of the prompt.

    python -m tuft_on_cpu.as_qwen2 FROM TO
"""

import json
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

source, target = map(Path, sys.argv[1:])
shutil.copytree(source, target, dirs_exist_ok=True)

config = json.loads((source / "config.json").read_text())
for name in ("attention_bias", "mlp_bias"):
    config.pop(name, None)
config |= {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "use_sliding_window": False}
(target / "config.json").write_text(json.dumps(config, indent=1))

weights = load_file(source / "model.safetensors")
biased = [name for name in weights if name.endswith(("q_proj.weight", "k_proj.weight", "v_proj.weight"))]
for name in biased:
    weights[name.removesuffix("weight") + "bias"] = torch.zeros(len(weights[name]))
save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
