"""
GGUF files that llama.cpp's own converter and Python package make, for test/engine/local/gguf.test.ts.

    WHETSTONE_LLAMA_SCRIPTS=<llama.cpp> bench/peers/.venv/bin/python bench/peers/gguf_fixtures.py

The folder is one with llama.cpp's convert_hf_to_gguf.py; the source of llama-cpp-python has one in vendor/llama.cpp.
Needs fixtures.py's folders. Under test/engine/local/fixtures/gguf:

    <model>.gguf          the folder of that name, as the converter writes it, with float32 values
    blocks.json           per format: bytes of random blocks, and the float32 values that `gguf.dequantize` makes of them
    mixed-<n>.gguf        a model of one layer whose tensors have different formats
    mixed-<n>.safetensors logits [A, V] that Transformers computes from the dequantised weights, for the rows of rows.json
"""

import base64
import json
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

# the package that belongs to the converter
sys.path[:0] = [os.environ["WHETSTONE_LLAMA_SCRIPTS"], os.environ["WHETSTONE_LLAMA_SCRIPTS"] + "/gguf-py"]

import gguf
import numpy as np
import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

FOLDER = Path(__file__).parents[2] / "test/engine/local/fixtures"
OUT = FOLDER / "gguf"
Q = gguf.GGMLQuantizationType
FORMATS = [
    Q.F32, Q.F16, Q.BF16, Q.Q8_0, Q.Q4_0, Q.Q4_1, Q.Q5_0, Q.Q5_1,
    Q.Q2_K, Q.Q3_K, Q.Q4_K, Q.Q5_K, Q.Q6_K,
]  # fmt: skip
# where the float16 numbers of a block lie, which are not drawn at random
SCALES = {
    Q.Q8_0: [0], Q.Q4_0: [0], Q.Q4_1: [0, 2], Q.Q5_0: [0], Q.Q5_1: [0, 2],
    Q.Q2_K: [80, 82], Q.Q3_K: [108], Q.Q4_K: [0, 2], Q.Q5_K: [0, 2], Q.Q6_K: [208],
}  # fmt: skip
# how large the whole numbers are that these multiply, roughly
LARGEST = {Q.Q8_0: 64, Q.Q2_K: 32, Q.Q3_K: 64, Q.Q4_K: 500, Q.Q5_K: 1000, Q.Q6_K: 2000}
CONVERTED = {"llama": {}, "qwen2": {}, "qwen3": {}, "smollm": {}, "yarn": {}, "smollm3": {"no_rope_layers": None}}
LLAMA3 = {"factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
MIXED = [
    {"embed": Q.Q6_K, "q": Q.Q4_K, "k": Q.Q5_K, "v": Q.Q2_K, "o": Q.F16, "gate": Q.Q3_K, "up": Q.Q8_0, "down": Q.Q4_0},
    {"embed": Q.Q8_0, "q": Q.Q4_1, "k": Q.Q5_0, "v": Q.Q5_1, "o": Q.BF16, "gate": Q.Q6_K, "up": Q.Q4_K, "down": Q.F32},
]


def random_blocks(kind: Q, values: int, scale: float, random: np.random.Generator) -> np.ndarray:
    """Bytes of blocks of so many values, of which every field takes any of its values, except that scales stay small."""
    if kind in (Q.F32, Q.F16, Q.BF16):
        return gguf.quantize(random.normal(0, scale, values).astype(np.float32), kind).view(np.uint8)
    in_block, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = values // in_block
    out = random.integers(0, 256, (blocks, size), dtype=np.uint8)
    for at in SCALES[kind]:
        d = random.normal(0, scale / LARGEST.get(kind, 16), blocks).astype(np.float16)
        out[:, at : at + 2] = d.view(np.uint8).reshape(blocks, 2)
    return out.reshape(-1)


def write_blocks() -> None:
    random = np.random.default_rng(1)
    text = lambda array: base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    out = {}
    for kind in FORMATS:
        data = random_blocks(kind, 512, 1.0, random)
        values = gguf.dequantize(data, kind).astype(np.float32)
        out[kind.name] = {"type": int(kind), "data": text(data), "values": text(values)}
    (OUT / "blocks.json").write_text(json.dumps(out, indent=1) + "\n")


def convert(folder: Path, to: Path) -> None:
    """As convert_hf_to_gguf.py does it, but for tokenizers that it does not know by their hash."""
    from conversion import ModelBase, ModelType, get_model_architecture, get_model_class

    hparams = ModelBase.load_hparams(folder, False)
    found = get_model_class(get_model_architecture(hparams, ModelType.TEXT))
    found.get_vocab_base_pre = lambda self, tokenizer: "gpt-2"
    with torch.inference_mode():
        found(folder, gguf.LlamaFileType.ALL_F32, to, eager=True).write()


def write_converted() -> None:
    for name, over in [*CONVERTED.items(), ("llama3", None)]:
        with TemporaryDirectory() as at:
            folder = Path(shutil.copytree(FOLDER / name, Path(at) / name))
            config = json.loads((folder / "config.json").read_text())
            if over is None:
                # the scaling of every published Llama, which alone can be told from what a file has of it
                config["rope_scaling"] = {**config["rope_scaling"], **LLAMA3}
                config["rope_theta"] = 5e8  # so that three frequencies are a kept, a mixed and a stretched one
            else:
                config |= {key: value for key, value in over.items() if value is not None}
            (folder / "config.json").write_text(json.dumps(config))
            convert(folder, OUT / f"{name}.gguf")


def write_mixed(number: int, kinds: dict[str, Q], rows: list[list[int]], tokenizer: dict, config: dict) -> None:
    random = np.random.default_rng(number)
    vocab = sorted(tokenizer["model"]["vocab"].items(), key=lambda pair: pair[1])
    width, inner, head = 256, 32, 16
    writer = gguf.GGUFWriter(OUT / f"mixed-{number}.gguf", "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(1)
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_rope_dimension_count(head)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([token for token, _ in vocab])
    special = {token["content"] for token in tokenizer["added_tokens"]}
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_token_types([control if token in special else normal for token, _ in vocab])
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in tokenizer["model"]["merges"]])
    writer.add_eos_token_id(2)
    writer.add_chat_template(config["chat_template"])

    state: dict[str, torch.Tensor] = {}

    def add(name: str, theirs: str, shape: tuple[int, int], kind: Q, heads: int | None = None) -> None:
        data = random_blocks(kind, shape[0] * shape[1], 0.05, random) if shape[1] == 256 else None
        if data is None:
            data = gguf.quantize(random.normal(0, 0.05, shape).astype(np.float32), kind)
        else:
            data = data.reshape(shape[0], -1)
        if kind in (Q.F32, Q.F16):
            data = np.ascontiguousarray(data).view(np.float32 if kind == Q.F32 else np.float16)
        writer.add_tensor(name, data, raw_dtype=kind)
        values = torch.from_numpy(gguf.dequantize(np.ascontiguousarray(data), kind).astype(np.float32).reshape(shape))
        # the file has neighbouring dimensions beside each other
        if heads is not None:
            values = values.reshape(heads, shape[0] // heads // 2, 2, -1).swapaxes(1, 2).reshape(values.shape)
        state[theirs] = values

    def add_norm(name: str, theirs: str) -> None:
        values = random.normal(1, 0.1, width).astype(np.float32)
        writer.add_tensor(name, values)
        state[theirs] = torch.from_numpy(values)

    add("token_embd.weight", "model.embed_tokens.weight", (len(vocab), width), kinds["embed"])
    layer = "model.layers.0."
    add("blk.0.attn_q.weight", layer + "self_attn.q_proj.weight", (head, width), kinds["q"], 1)
    add("blk.0.attn_k.weight", layer + "self_attn.k_proj.weight", (head, width), kinds["k"], 1)
    add("blk.0.attn_v.weight", layer + "self_attn.v_proj.weight", (head, width), kinds["v"])
    add("blk.0.attn_output.weight", layer + "self_attn.o_proj.weight", (width, head), kinds["o"])
    add("blk.0.ffn_gate.weight", layer + "mlp.gate_proj.weight", (inner, width), kinds["gate"])
    add("blk.0.ffn_up.weight", layer + "mlp.up_proj.weight", (inner, width), kinds["up"])
    add("blk.0.ffn_down.weight", layer + "mlp.down_proj.weight", (width, inner), kinds["down"])
    add_norm("blk.0.attn_norm.weight", layer + "input_layernorm.weight")
    add_norm("blk.0.ffn_norm.weight", layer + "post_attention_layernorm.weight")
    add_norm("output_norm.weight", "model.norm.weight")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(vocab), hidden_size=width, intermediate_size=inner, num_hidden_layers=1,
            num_attention_heads=1, num_key_value_heads=1, head_dim=head, max_position_embeddings=64,
            rms_norm_eps=1e-5, tie_word_embeddings=True, rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
        )
    ).double()  # fmt: skip
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert missing == ["lm_head.weight"] and not unexpected, (missing, unexpected)
    model.tie_weights()
    with torch.inference_mode():
        logits = torch.cat([model(torch.tensor([row])).logits[0, :-1] for row in rows])
    save_file({"logits": logits.float().contiguous()}, OUT / f"mixed-{number}.safetensors")


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    write_blocks()
    rows = json.loads((FOLDER / "rows.json").read_text())
    tokenizer = json.loads((FOLDER / "smollm/tokenizer.json").read_text())
    config = json.loads((FOLDER / "smollm/tokenizer_config.json").read_text())
    for number, kinds in enumerate(MIXED):
        write_mixed(number, kinds, rows["rows"] if isinstance(rows, dict) else rows, tokenizer, config)
    write_converted()
