"""Sampling and scoring with Transformers and PEFT, and the same model as a GGUF file for llama.cpp.

Kept fair: nothing ends a reply early, so no logits processor watches for it, and none narrows the distribution.
"""

import time

import lines
import torch
import torch.nn.functional as F
from transformers import GenerationConfig, LlamaForCausalLM

lines.threads_and()
model = None


def open_model(folder, adapter=None, **_):
    global model
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa")
    if adapter:
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, adapter)
    model.eval()


@torch.inference_mode()
def sample(prompts, maxTokens, times=1, temperature=1):
    tokens = torch.tensor(prompts)
    mask = torch.ones_like(tokens)
    chosen = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
    config = GenerationConfig(
        max_new_tokens=maxTokens, pad_token_id=0, eos_token_id=None, **(chosen if temperature else {"do_sample": False})
    )
    made = 0
    out = None
    began = time.perf_counter()
    for _ in range(times):
        out = model.generate(tokens, attention_mask=mask, generation_config=config)
        made += out.shape[0] * (out.shape[1] - tokens.shape[1])
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "tokens": made, **({} if temperature else {"actions": out[:, tokens.shape[1] :].tolist()})}


@torch.inference_mode()
def score(rows):
    """Mean log-probability of each row's tokens from position `from` on."""
    total, count = 0.0, 0
    for row in rows:
        tokens = torch.tensor([row["tokens"]])
        logp = F.log_softmax(model(input_ids=tokens).logits[0, :-1], dim=-1)
        picked = logp.gather(1, tokens[0, 1:, None])[row["from"] - 1 :]
        total += picked.sum().item()
        count += len(picked)
    return {"logp": total / count}


@torch.inference_mode()
def logp(rows):
    """Log-probabilities of each row's tokens but the first."""

    def one(tokens):
        tokens = torch.tensor([tokens])
        return F.log_softmax(model(input_ids=tokens).logits[0, :-1], dim=-1).gather(1, tokens[0, 1:, None])[:, 0].tolist()

    return {"logp": [one(tokens) for tokens in rows]}


def convert_adapter(scripts, folder, adapter, file):
    """An adapter as GGUF, by llama.cpp's own script in the folder `scripts`."""
    import os
    import subprocess
    import sys

    script = os.path.join(scripts, "convert_lora_to_gguf.py")
    said = subprocess.run(
        [sys.executable, script, "--base", folder, "--outtype", "f32", "--outfile", file, adapter],
        capture_output=True,
        text=True,
    )
    if said.returncode:
        raise RuntimeError(f"{script}: {said.stderr[-2000:]}")


def write_gguf(folder, file):
    """The Hugging Face folder as a 32-bit GGUF with a vocabulary of made-up words that nobody reads."""
    import json
    import os

    try:
        import gguf
    except ImportError:
        raise RuntimeError("no package gguf: run bench/peers/setup.sh again") from None
    from safetensors.torch import load_file

    with open(os.path.join(folder, "config.json")) as f:
        config = json.load(f)
    weights = load_file(os.path.join(folder, "model.safetensors"))
    heads, kv_heads, head = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
    vocabulary = config["vocab_size"]

    writer = gguf.GGUFWriter(file, "llama")
    writer.add_name("bench")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_vocab_size(vocabulary)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_rope_dimension_count(head)
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])

    kinds = gguf.TokenType
    made_up = [f"▁w{i}" for i in range(vocabulary - 3 - 256)]
    writer.add_tokenizer_model("llama")
    # llama.cpp looks every byte up
    writer.add_token_list(["<unk>", "<s>", "</s>", *[f"<0x{b:02X}>" for b in range(256)], *made_up])
    writer.add_token_scores([0.0] * vocabulary)
    writer.add_token_types(
        [kinds.UNKNOWN, kinds.CONTROL, kinds.CONTROL, *[kinds.BYTE] * 256, *[kinds.NORMAL] * len(made_up)]
    )
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)

    def interleaved(w, n):
        # llama.cpp turns neighbouring dimensions together, Hugging Face those half a head apart
        return w.reshape(n, 2, head // 2, -1).swapaxes(1, 2).reshape(w.shape)

    names = {
        "input_layernorm": "attn_norm",
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "post_attention_layernorm": "ffn_norm",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
    }
    whole = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
    for name, tensor in weights.items():
        w = tensor.numpy()
        stem = name.removesuffix(".weight")
        if stem in whole:
            writer.add_tensor(f"{whole[stem]}.weight", w)
            continue
        layer, part = stem.removeprefix("model.layers.").split(".", 1)
        if part == "self_attn.q_proj":
            w = interleaved(w, heads)
        if part == "self_attn.k_proj":
            w = interleaved(w, kv_heads)
        writer.add_tensor(f"blk.{layer}.{names[part]}.weight", w.copy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


lines.serve(
    {
        "about": lambda: lines.versions("torch", "transformers"),
        "open": open_model,
        "sample": sample,
        "score": score,
        "logp": logp,
        "gguf": write_gguf,
        "gguf_adapter": convert_adapter,
    }
)
